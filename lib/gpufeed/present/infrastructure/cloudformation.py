"""The plan as a CloudFormation template in YAML.

A template is built as plain dictionaries and written by :func:`yaml`, in which every text is a quoted JSON string: what
stands in a value can never become structure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpufeed.present.infrastructure.need import FSX_ACTIONS, FSX_ROLE, FileSystem, Needed, heading, parameters

Node = dict[str, Any]

_TAGS = [{"Key": "project", "Value": {"Ref": "ProjectTag"}}]
_EVENTS = ["NEW", "CHANGED", "DELETED"]
#: Service of a gateway endpoint → resource, and the parameter that names its route tables.
_ENDPOINTS = {"s3": ("S3Endpoint", "RouteTableIds"), "s3express": ("S3ExpressEndpoint", "ExpressRouteTableIds")}
_KEY = {"Fn::If": ["KeyIsNamed", {"Ref": "KmsKeyArn"}, {"Fn::GetAtt": ["DataKey", "Arn"]}]}
_NAMED = {"Ref": "ExistingBucketName"}


def template(need: Needed) -> str:
    return heading(need, "cloudformation") + "\n".join(yaml(document(need))) + "\n"


def document(need: Needed) -> Node:
    """The template as dictionaries."""
    resources: Node = {"DataBucket": _bucket(need)} if need.makes_bucket else {}
    if need.makes_key:
        resources["DataKey"] = _key(need)
    for service in need.endpoints:
        name, routes = _ENDPOINTS[service]
        resources[name] = _endpoint(name, service, routes)
    if need.file_system is not None:
        resources |= _file_system(need.file_system, need)
    if need.directory_bucket:
        resources["DirectoryBucket"] = _directory_bucket(need)
    if need.s3_files:
        resources |= _s3_files(need)
    if not resources:  # a template has to have one
        resources["NothingToBuild"] = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Storage for a training job, as planned by gpufeed; what is retained costs until deleted",
        "Parameters": _parameters(need, json.dumps(resources)),
        "Conditions": _conditions(need),
        "Resources": resources,
        "Outputs": _outputs(need),
    }


def _conditions(need: Needed) -> Node:
    found: Node = {}
    if need.makes_bucket:
        found["CreateBucket"] = {"Fn::Equals": [_NAMED, ""]}
    if _expires(need):
        found["ExpireCheckpoints"] = {"Fn::Not": [{"Fn::Equals": [{"Ref": "CheckpointExpirationDays"}, "0"]}]}
    for service in need.endpoints:
        name, routes = _ENDPOINTS[service]
        found[f"Create{name}"] = {"Fn::Not": [{"Fn::Equals": [{"Fn::Join": [",", {"Ref": routes}]}, ""]}]}
    if need.makes_key:
        unnamed: Node = {"Fn::Not": [{"Condition": "KeyIsNamed"}]}
        found["KeyIsNamed"] = {"Fn::Not": [{"Fn::Equals": [{"Ref": "KmsKeyArn"}, ""]}]}
        # A bucket that is there already keeps its own key.
        found["CreateKey"] = unnamed if need.directory_bucket else {"Fn::And": [{"Condition": "CreateBucket"}, unnamed]}
    return found


def _expires(need: Needed) -> bool:
    """Whether a bucket is made here that checkpoints may be deleted in after some days."""
    return need.makes_bucket or need.checkpoints_in_directory_bucket


def _name_of_bucket(need: Needed) -> Node:
    return {"Fn::If": ["CreateBucket", {"Ref": "DataBucket"}, _NAMED]} if need.makes_bucket else _NAMED


def _parameters(need: Needed, used_in: str) -> Node:
    """Those that the resources refer to, and those of conditions and outputs."""
    found: Node = {}
    always = {"ExistingBucketName", *(["CheckpointExpirationDays"] if _expires(need) else [])}
    for parameter in parameters(need).values():
        name = parameter.get("cloudformation")
        if name is None or not (name in always or f'"{name}"' in used_in or f"${{{name}}}" in used_in):
            continue
        entry = {"Type": parameter["type"], "Description": parameter["description"]}
        for ours, theirs in (("default", "Default"), ("pattern", "AllowedPattern"), ("minimum", "MinValue")):
            if ours in parameter:
                entry[theirs] = parameter[ours]
        if name == "AvailabilityZoneId" and need.zones:
            entry["AllowedValues"] = list(need.zones)
        found[name] = entry
    return found


def _bucket(need: Needed) -> Node:
    """The durable base, unless the data set's bucket is there already.  Never deleted with the stack."""
    rules: list[Any] = [
        {
            "Id": "abort-incomplete-multipart-uploads",
            "Status": "Enabled",
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": need.abort_multipart_days},
        },
        _if(
            "ExpireCheckpoints",
            {
                "Id": "expire-checkpoints",
                "Status": "Enabled",
                "Prefix": {"Ref": "CheckpointPrefix"},
                "ExpirationInDays": {"Ref": "CheckpointExpirationDays"},
            },
        ),
    ]
    properties: Node = {
        "PublicAccessBlockConfiguration": {
            "BlockPublicAcls": True,
            "BlockPublicPolicy": True,
            "IgnorePublicAcls": True,
            "RestrictPublicBuckets": True,
        },
        "LifecycleConfiguration": {"Rules": rules},
        "Tags": _TAGS,
    }
    if need.encrypts_with_kms:
        properties["BucketEncryption"] = _encryption(bucket_key=need.bucket_key)
    if need.s3_files:
        properties["VersioningConfiguration"] = {"Status": "Enabled"}
        rules.insert(
            1,
            {
                "Id": "expire-noncurrent-versions",
                "Status": "Enabled",
                "NoncurrentVersionExpiration": {"NoncurrentDays": need.noncurrent_days},
            },
        )
    return {"Type": "AWS::S3::Bucket", "Condition": "CreateBucket", **_kept("Retain"), "Properties": properties}


def _directory_bucket(need: Needed) -> Node:
    rules: list[Any] = [
        {
            "Id": "abort-incomplete-multipart-uploads",
            "Status": "Enabled",
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": need.abort_multipart_days},
        }
    ]
    if need.checkpoints_in_directory_bucket:
        expire = {
            "Id": "expire-checkpoints",
            "Status": "Enabled",
            "Prefix": {"Ref": "CheckpointPrefix"},
            "ExpirationInDays": {"Ref": "CheckpointExpirationDays"},
        }
        rules.append(_if("ExpireCheckpoints", expire))
    properties: Node = {
        "LocationName": {"Ref": "AvailabilityZoneId"},
        "DataRedundancy": "SingleAvailabilityZone",
        "LifecycleConfiguration": {"Rules": rules},
        "Tags": _TAGS,
    }
    if need.encrypts_with_kms:
        # A directory bucket has bucket keys always.
        properties["BucketEncryption"] = _encryption(bucket_key=True)
    return {"Type": "AWS::S3Express::DirectoryBucket", **_kept("Retain"), "Properties": properties}


def _encryption(*, bucket_key: bool) -> Node:
    by_default: Node = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": _KEY}
    rule: Node = {"BucketKeyEnabled": bucket_key, "ServerSideEncryptionByDefault": by_default}
    return {"ServerSideEncryptionConfiguration": [rule]}


def _key(need: Needed) -> Node:
    """The account decides by IAM who uses it; a linked file system's service role has to stand in the key's policy."""
    account = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
    statements: list[Node] = [
        {"Sid": "Account", "Effect": "Allow", "Principal": {"AWS": account}, "Action": "kms:*", "Resource": "*"}
    ]
    if need.file_system is not None:
        role = {"Fn::Sub": f"arn:${{AWS::Partition}}:iam::${{AWS::AccountId}}:role/{FSX_ROLE}"}
        statements.append(
            {
                "Sid": "LinkedFileSystems",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": list(FSX_ACTIONS),
                "Resource": "*",
                "Condition": {
                    "StringEquals": {"kms:CallerAccount": {"Ref": "AWS::AccountId"}},
                    "StringLike": {"aws:PrincipalArn": role},
                },
            }
        )
    properties: Node = {
        "Description": "Data set and checkpoints of a training job",
        "EnableKeyRotation": True,
        "KeyPolicy": {"Version": "2012-10-17", "Statement": statements},
        "Tags": _TAGS,
    }
    # Without its key the data that outlives the stack could not be read.
    return {"Type": "AWS::KMS::Key", "Condition": "CreateKey", **_kept("Retain"), "Properties": properties}


def _endpoint(name: str, service: str, routes: str) -> Node:
    properties: Node = {
        "VpcEndpointType": "Gateway",
        "ServiceName": {"Fn::Sub": f"com.amazonaws.${{AWS::Region}}.{service}"},
        "VpcId": {"Ref": "VpcId"},
        "RouteTableIds": {"Ref": routes},
        "Tags": _TAGS,
    }
    return {"Type": "AWS::EC2::VPCEndpoint", "Condition": f"Create{name}", "Properties": properties}


def _file_system(system: FileSystem, need: Needed) -> Node:
    lustre: Node = {"DeploymentType": system.deployment_type}
    if system.throughput_per_tib is not None:
        lustre["PerUnitStorageThroughput"] = system.throughput_per_tib
    if system.storage_type == "HDD":
        lustre["DriveCacheType"] = "NONE"
    if system.has_metadata_configuration:
        lustre["MetadataConfiguration"] = (
            {"Mode": "AUTOMATIC"}
            if system.metadata_iops is None
            else {"Mode": "USER_PROVISIONED", "Iops": system.metadata_iops}
        )
    if system.efa:
        lustre["EfaEnabled"] = True
    resources: Node = {
        "FileSystemSecurityGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {
                "GroupDescription": "FSx for Lustre and its clients",
                "VpcId": {"Ref": "VpcId"},
                "Tags": _TAGS,
            },
        },
        **_rules(system),
        "FileSystem": {
            "Type": "AWS::FSx::FileSystem",
            "DependsOn": list(_rules(system)),
            "Properties": {
                "FileSystemType": "LUSTRE",
                "FileSystemTypeVersion": system.lustre_version,
                "StorageType": system.storage_type,
                "StorageCapacity": system.capacity_gib,
                "SubnetIds": [{"Ref": "SubnetId"}],
                "SecurityGroupIds": [{"Fn::GetAtt": ["FileSystemSecurityGroup", "GroupId"]}],
                "LustreConfiguration": lustre,
                "Tags": _TAGS,
            },
        },
    }
    if system.holds_data:
        # From a bucket of another Region FSx imports once, when the link is made.
        imported: Node = {"AutoImportPolicy": {"Events": _EVENTS}} if need.imports_changes else {}
        resources["DataAssociation"] = _association("/data", "DataPrefix", need, imported, batch_import=True)
    if system.holds_checkpoints:
        # Deleting a file must not delete its only durable copy.
        export = {"AutoExportPolicy": {"Events": [event for event in _EVENTS if event != "DELETED"]}}
        association = _association("/checkpoints", "CheckpointPrefix", need, export, batch_import=False)
        # One after the other: a file system changes one association at a time.
        after = {"DependsOn": "DataAssociation"} if system.holds_data else {}
        resources["CheckpointAssociation"] = {**after, **association}
    return _outliving(resources, holds_checkpoints=system.holds_checkpoints)


def _association(path: str, prefix: str, need: Needed, s3: Node, *, batch_import: bool) -> Node:
    return {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        "Properties": {
            "FileSystemId": {"Ref": "FileSystem"},
            "FileSystemPath": path,
            "DataRepositoryPath": {"Fn::Sub": [f"s3://${{Bucket}}/${{{prefix}}}", {"Bucket": _name_of_bucket(need)}]},
            "BatchImportMetaDataOnCreate": batch_import,
            "ImportedFileChunkSize": need.chunk_mib,
            **({"S3": s3} if s3 else {}),
            "Tags": _TAGS,
        },
    }


def _rules(system: FileSystem) -> Node:
    """Among file system and clients, both ways: Lustre's ports, or all traffic, which EFA needs."""
    group: Node = {"Fn::GetAtt": ["FileSystemSecurityGroup", "GroupId"]}
    clients: Node = {"Ref": "ClientSecurityGroupId"}
    pairs: dict[str, tuple[Node, Node]] = {
        "WithinFileSystem": (group, group),
        "FileSystemFromClients": (group, clients),
        "ClientsFromFileSystem": (clients, group),
    }
    found: Node = {}
    for name, (of, peer) in pairs.items():
        if system.efa:
            found[f"{name}All"] = _rule("Ingress", of, "SourceSecurityGroupId", peer, {"IpProtocol": "-1"})
            found[f"{name}AllOut"] = _rule("Egress", of, "DestinationSecurityGroupId", peer, {"IpProtocol": "-1"})
            continue
        for first, last in system.ports:
            ports = {"IpProtocol": "tcp", "FromPort": first, "ToPort": last}
            found[f"{name}Port{first}"] = _rule("Ingress", of, "SourceSecurityGroupId", peer, ports)
    return found


def _rule(direction: str, group: Node, peer_name: str, peer: Node, what: Node) -> Node:
    return {
        "Type": f"AWS::EC2::SecurityGroup{direction}",
        "Properties": {"GroupId": group, peer_name: peer, "Description": "Lustre", **what},
    }


def _s3_files(need: Needed) -> Node:
    arn = {"Fn::Sub": ["arn:${AWS::Partition}:s3:::${Bucket}", {"Bucket": _name_of_bucket(need)}]}
    accepted = {"AcceptBucketWarning": True} if need.accepts_bucket_warning else {}
    resources: Node = {
        "MountTargetSecurityGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {
                "GroupDescription": "S3 Files mount target",
                "VpcId": {"Ref": "VpcId"},
                "SecurityGroupIngress": [
                    {
                        "IpProtocol": "tcp",
                        "FromPort": need.nfs_port,
                        "ToPort": need.nfs_port,
                        "SourceSecurityGroupId": {"Ref": "ClientSecurityGroupId"},
                        "Description": "NFS from the training instances",
                    }
                ],
                "Tags": _TAGS,
            },
        },
        "S3FilesFileSystem": {
            "Type": "AWS::S3Files::FileSystem",
            "Properties": {"Bucket": arn, "RoleArn": {"Ref": "S3FilesRoleArn"}, "Tags": _TAGS} | accepted,
        },
        "MountTarget": {
            "Type": "AWS::S3Files::MountTarget",
            "Properties": {
                "FileSystemId": {"Fn::GetAtt": ["S3FilesFileSystem", "FileSystemId"]},
                "SubnetId": {"Ref": "SubnetId"},
                "SecurityGroups": [{"Fn::GetAtt": ["MountTargetSecurityGroup", "GroupId"]}],
            },
        },
    }
    return _outliving(resources, holds_checkpoints=need.checkpoints_in_s3_files)


def _outputs(need: Needed) -> Node:
    outputs: Node = {"BucketName": _name_of_bucket(need)}
    if need.file_system is not None:
        outputs["FileSystemId"] = {"Ref": "FileSystem"}
        outputs["FileSystemDnsName"] = {"Fn::GetAtt": ["FileSystem", "DNSName"]}
        outputs["FileSystemMountName"] = {"Fn::GetAtt": ["FileSystem", "LustreMountName"]}
    if need.directory_bucket:
        outputs["DirectoryBucketName"] = {"Ref": "DirectoryBucket"}
    if need.s3_files:
        outputs["S3FilesFileSystemId"] = {"Fn::GetAtt": ["S3FilesFileSystem", "FileSystemId"]}
    return {name: {"Value": value} for name, value in outputs.items()}


def _if(condition: str, rule: Node) -> Node:
    return {"Fn::If": [condition, rule, {"Ref": "AWS::NoValue"}]}


def _outliving(resources: Node, *, holds_checkpoints: bool) -> Node:
    """What holds checkpoints outlives its stack, with all it needs to export them; it is then deleted by hand."""
    policy = _kept("Retain" if holds_checkpoints else "Delete")
    return {name: resource | policy for name, resource in resources.items()}


def _kept(policy: str) -> Node:
    """What happens to it when the stack goes; what is replaced is always kept."""
    return {"DeletionPolicy": policy, "UpdateReplacePolicy": "Retain"}


def yaml(node: Any, indent: int = 0) -> Iterator[str]:
    """A document of dictionaries, lists and scalars as lines of YAML, in the order they were put in."""
    pad = " " * indent
    if isinstance(node, Mapping):
        for key, value in node.items():
            if _nested(value):
                yield f"{pad}{key}:"
                yield from yaml(value, indent + 2)
            else:
                yield f"{pad}{key}: {json.dumps(value)}"
        return
    for item in node:
        if not _nested(item):
            yield f"{pad}- {json.dumps(item)}"
            continue
        first, *others = yaml(item, indent + 2)
        yield f"{pad}- {first[indent + 2 :]}"
        yield from others


def _nested(value: Any) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str) and bool(value)
