"""The plan as a Terraform configuration for the AWS provider.

A body is a list of entries: an :class:`Attribute`, or a :class:`Block` with a body of its own.  Every text is a quoted
string in which ``${`` and ``%{`` are escaped; only an :class:`Expression` is evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gpufeed.present.infrastructure.need import FSX_ACTIONS, FSX_ROLE, FileSystem, Needed, heading, parameters

_EVENTS = ["NEW", "CHANGED", "DELETED"]
_CREATED = 'var.existing_bucket_name == "" ? 1 : 0'
_IN_ONE_LINE = 3  # parts of a list
# The first release of the provider that is known to have the S3 Files resources, and the one all others are for.
_WITH_S3_FILES, _PROVIDER = ">= 6.53", ">= 6.0"


class Expression(str):
    """Terraform code, written as it is."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    labels: tuple[str, ...]
    body: tuple[Attribute | Block, ...]


def configuration(need: Needed) -> str:
    return heading(need, "terraform") + "\n".join("\n" + "\n".join(_block(block)) for block in blocks(need)) + "\n"


def blocks(need: Needed) -> list[Block]:
    """The configuration, variables first."""
    resources = [*_bucket(need), *_endpoints(need)]
    if need.makes_key:
        resources += _key(need)
    if need.file_system is not None:
        resources += _file_system(need.file_system, need)
    if need.directory_bucket:
        resources += _directory_bucket(need)
    if need.s3_files:
        resources += _s3_files(need)
    resources = _data_sources(need) + resources
    outputs = _outputs(need)
    written = "\n".join(line for block in [*resources, *outputs] for line in _block(block))
    variables = [
        _variable(name, parameter, need)
        for name, parameter in parameters(need).items()
        if f"var.{name}" in written or name == "project_tag"
    ]
    return [*_head(need), *variables, *resources, *outputs]


def _head(need: Needed) -> list[Block]:
    provider = {"source": "hashicorp/aws", "version": _WITH_S3_FILES if need.s3_files else _PROVIDER}
    return [
        _of("terraform", (), _of("required_providers", (), aws=provider), required_version=">= 1.5"),
        _of(
            "provider",
            ("aws",),
            _of("default_tags", (), tags={"project": Expression("var.project_tag")}),
            region=need.region,
        ),
    ]


def _variable(name: str, parameter: Mapping[str, Any], need: Needed) -> Block:
    several = parameter["type"] == "CommaDelimitedList"
    kind = "list(string)" if several else "number" if parameter["type"] == "Number" else "string"
    entries: list[Attribute | Block] = [
        Attribute("type", Expression(kind)),
        Attribute("description", parameter["description"]),
    ]
    if "default" in parameter:
        entries.append(Attribute("default", [] if several else parameter["default"]))
    if name == "availability_zone_id" and need.zones:
        known = json.dumps(list(need.zones))
        entries.append(_valid(f"contains({known}, var.{name})", "A zone of this Region that has directory buckets."))
    if "pattern" in parameter:
        pattern = json.dumps(parameter["pattern"])
        entries.append(_valid(f"can(regex({pattern}, var.{name}))", f"It has to match {parameter['pattern']} ."))
    if "minimum" in parameter:
        entries.append(_valid(f"var.{name} >= {parameter['minimum']}", "It cannot be negative."))
    return Block("variable", (name,), tuple(entries))


def _data_sources(need: Needed) -> list[Block]:
    """What the account and the partition are called, where a name is made of them."""
    policy = need.makes_key and need.file_system is not None
    names = [*(["aws_caller_identity"] if policy else []), *(["aws_partition"] if policy or need.s3_files else [])]
    return [_of("data", (name, "current")) for name in names]


def _valid(condition: str, message: str) -> Block:
    return _of("validation", (), condition=Expression(condition), error_message=message)


def _bucket(need: Needed) -> Iterator[Block]:
    """The durable base, unless the data set's bucket is there already."""
    if not need.makes_bucket:
        yield _of("locals", (), bucket_name=Expression("var.existing_bucket_name"))
        return
    created = Expression("aws_s3_bucket.data[0].id")
    name = Expression('var.existing_bucket_name == "" ? aws_s3_bucket.data[0].id : var.existing_bucket_name')
    yield _of("locals", (), bucket_name=name)
    yield _resource("aws_s3_bucket", "data", _of("lifecycle", (), prevent_destroy=True), count=Expression(_CREATED))
    yield _resource(
        "aws_s3_bucket_public_access_block",
        "data",
        count=Expression(_CREATED),
        bucket=created,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
    )
    rules = [_abort(need)]
    if need.s3_files:
        versioning = _of("versioning_configuration", (), status="Enabled")
        yield _resource("aws_s3_bucket_versioning", "data", versioning, count=Expression(_CREATED), bucket=created)
        kept = _of("noncurrent_version_expiration", (), noncurrent_days=need.noncurrent_days)
        rules.append(_of("rule", (), _of("filter", ()), kept, id="expire-noncurrent-versions", status="Enabled"))
    yield _resource(
        "aws_s3_bucket_lifecycle_configuration",
        "data",
        *rules,
        _expire(),
        count=Expression(_CREATED),
        bucket=created,
    )


def _endpoints(need: Needed) -> Iterator[Block]:
    """The way to the buckets that no NAT gateway limits or charges for."""
    routes_of = {"s3": "route_table_ids", "s3express": "express_route_table_ids"}
    for service in need.endpoints:
        routes = f"var.{routes_of[service]}"
        yield _resource(
            "aws_vpc_endpoint",
            service,
            count=Expression(f"length({routes}) > 0 ? 1 : 0"),
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{need.region}.{service}",
            vpc_id=Expression("var.vpc_id"),
            route_table_ids=Expression(routes),
        )


def _key(need: Needed) -> Iterator[Block]:
    """The account decides by IAM who uses it; a linked file system's service role has to stand in the key's policy."""
    # A bucket that is there already keeps its own key.
    bucket = "" if need.directory_bucket else ' && var.existing_bucket_name == ""'
    named = 'var.kms_key_arn == "" ? one(aws_kms_key.data[*].arn) : var.kms_key_arn'
    yield _of("locals", (), key_arn=Expression(named))
    policy = {}
    if need.file_system is not None:
        yield _key_policy()
        policy = {"policy": Expression("data.aws_iam_policy_document.key.json")}
    yield _resource(
        "aws_kms_key",
        "data",
        # Without its key the data could not be read any more.
        _of("lifecycle", (), prevent_destroy=True),
        count=Expression(f'var.kms_key_arn == ""{bucket} ? 1 : 0'),
        description="Data set and checkpoints of a training job",
        enable_key_rotation=True,
        **policy,
    )
    if need.makes_bucket:
        created = {"count": Expression(_CREATED), "bucket": Expression("aws_s3_bucket.data[0].id")}
        yield _encryption("data", bucket_key=need.bucket_key, **created)
    if need.directory_bucket:
        # A directory bucket has bucket keys always.
        name = Expression("aws_s3_directory_bucket.training.bucket")
        yield _encryption("training", bucket_key=True, bucket=name)


def _encryption(name: str, *, bucket_key: bool, **where: Any) -> Block:
    by_default = {"sse_algorithm": "aws:kms", "kms_master_key_id": Expression("local.key_arn")}
    rule = _of(
        "rule", (), _of("apply_server_side_encryption_by_default", (), **by_default), bucket_key_enabled=bucket_key
    )
    return _resource("aws_s3_bucket_server_side_encryption_configuration", name, rule, **where)


def _key_policy() -> Block:
    arn = "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}"
    account = _of(
        "statement",
        (),
        _of("principals", (), type="AWS", identifiers=[Expression(f'"{arn}:root"')]),
        sid="Account",
        actions=["kms:*"],
        resources=["*"],
    )
    caller = Expression("data.aws_caller_identity.current.account_id")
    role = Expression(f'"{arn}:role/{FSX_ROLE}"')
    file_systems = _of(
        "statement",
        (),
        _of("principals", (), type="AWS", identifiers=["*"]),
        _of("condition", (), test="StringEquals", variable="kms:CallerAccount", values=[caller]),
        _of("condition", (), test="StringLike", variable="aws:PrincipalArn", values=[role]),
        sid="LinkedFileSystems",
        actions=list(FSX_ACTIONS),
        resources=["*"],
    )
    return _of("data", ("aws_iam_policy_document", "key"), account, file_systems)


def _directory_bucket(need: Needed) -> Iterator[Block]:
    name = Expression('"${var.directory_bucket_base_name}--${var.availability_zone_id}--x-s3"')
    yield _resource(
        "aws_s3_directory_bucket",
        "training",
        _of("location", (), name=Expression("var.availability_zone_id")),
        bucket=name,
        data_redundancy="SingleAvailabilityZone",
    )
    rules = [_abort(need), *([_expire()] if need.checkpoints_in_directory_bucket else [])]
    bucket = Expression("aws_s3_directory_bucket.training.bucket")
    yield _resource("aws_s3_bucket_lifecycle_configuration", "training", *rules, bucket=bucket)


def _abort(need: Needed) -> Block:
    after = _of("abort_incomplete_multipart_upload", (), days_after_initiation=need.abort_multipart_days)
    return _of("rule", (), _of("filter", ()), after, id="abort-incomplete-multipart-uploads", status="Enabled")


def _expire() -> Block:
    """Only where the user says after how many days."""
    rule = _of(
        "content",
        (),
        _of("filter", (), prefix=Expression("var.checkpoint_prefix")),
        _of("expiration", (), days=Expression("var.checkpoint_expiration_days")),
        id="expire-checkpoints",
        status="Enabled",
    )
    return _of("dynamic", ("rule",), rule, for_each=Expression("var.checkpoint_expiration_days > 0 ? [1] : []"))


def _file_system(system: FileSystem, need: Needed) -> Iterator[Block]:
    yield _resource(
        "aws_security_group",
        "file_system",
        name_prefix="gpufeed-lustre-",
        description="FSx for Lustre and its clients",
        vpc_id=Expression("var.vpc_id"),
    )
    rules = list(_rules(system))
    yield from rules
    lustre: dict[str, Any] = {
        "file_system_type_version": system.lustre_version,
        "deployment_type": system.deployment_type,
        "storage_type": system.storage_type,
        "storage_capacity": system.capacity_gib,
    }
    if system.throughput_per_tib is not None:
        lustre["per_unit_storage_throughput"] = system.throughput_per_tib
    if system.storage_type == "HDD":
        lustre["drive_cache_type"] = "NONE"
    if system.efa:
        lustre["efa_enabled"] = True
    lustre["subnet_ids"] = [Expression("var.subnet_id")]
    lustre["security_group_ids"] = [Expression("aws_security_group.file_system.id")]
    lustre["depends_on"] = [Expression(".".join(rule.labels)) for rule in rules]
    nested = []
    if system.has_metadata_configuration:
        iops = {} if system.metadata_iops is None else {"iops": system.metadata_iops}
        nested.append(_of("metadata_configuration", (), mode="USER_PROVISIONED" if iops else "AUTOMATIC", **iops))
    if system.holds_checkpoints:
        # It is deleted by hand, once the export of the checkpoints is proven.
        nested.append(_of("lifecycle", (), prevent_destroy=True))
    yield _resource("aws_fsx_lustre_file_system", "training", *nested, **lustre)
    if system.holds_data:
        # From a bucket of another Region FSx imports once, when the link is made.
        events = _EVENTS if need.imports_changes else []
        yield _association("data", "auto_import_policy", events, need, batch_import=True)
    if system.holds_checkpoints:
        # Deleting a file must not delete its only durable copy.
        events = [event for event in _EVENTS if event != "DELETED"]
        # One after the other: a file system changes one association at a time.
        after = [Expression("aws_fsx_data_repository_association.data")] if system.holds_data else []
        yield _association("checkpoint", "auto_export_policy", events, need, batch_import=False, after=after)


def _association(
    kind: str, policy: str, events: list[str], need: Needed, *, batch_import: bool, after: Sequence[Expression] = ()
) -> Block:
    path = "/data" if kind == "data" else "/checkpoints"
    entries: dict[str, Any] = {
        "file_system_id": Expression("aws_fsx_lustre_file_system.training.id"),
        "file_system_path": path,
        "data_repository_path": Expression(f'"s3://${{local.bucket_name}}/${{var.{kind}_prefix}}"'),
        "batch_import_meta_data_on_create": batch_import,
        "imported_file_chunk_size": need.chunk_mib,
    }
    if after:
        entries["depends_on"] = list(after)
    s3 = [_of("s3", (), _of(policy, (), events=events))] if events else []
    return _resource("aws_fsx_data_repository_association", kind, *s3, **entries)


def _rules(system: FileSystem) -> Iterator[Block]:
    """Among file system and clients, both ways: Lustre's ports, or all traffic, which EFA needs."""
    group, clients = Expression("aws_security_group.file_system.id"), Expression("var.client_security_group_id")
    pairs = {
        "within_file_system": (group, group),
        "file_system_from_clients": (group, clients),
        "clients_from_file_system": (clients, group),
    }
    for name, (of, peer) in pairs.items():
        ends = {"security_group_id": of, "referenced_security_group_id": peer, "description": "Lustre"}
        if system.efa:
            yield _resource("aws_vpc_security_group_ingress_rule", f"{name}_all", **ends, ip_protocol="-1")
            yield _resource("aws_vpc_security_group_egress_rule", f"{name}_all", **ends, ip_protocol="-1")
            continue
        for first, last in system.ports:
            ports = {"ip_protocol": "tcp", "from_port": first, "to_port": last}
            yield _resource("aws_vpc_security_group_ingress_rule", f"{name}_{first}", **ends, **ports)
            if of is group:  # Terraform takes away the rule that lets everything out
                yield _resource("aws_vpc_security_group_egress_rule", f"{name}_{first}", **ends, **ports)


def _s3_files(need: Needed) -> Iterator[Block]:
    yield _resource(
        "aws_security_group",
        "mount_target",
        name_prefix="gpufeed-s3files-",
        description="S3 Files mount target",
        vpc_id=Expression("var.vpc_id"),
    )
    yield _resource(
        "aws_vpc_security_group_ingress_rule",
        "nfs_from_clients",
        security_group_id=Expression("aws_security_group.mount_target.id"),
        referenced_security_group_id=Expression("var.client_security_group_id"),
        description="NFS from the training instances",
        ip_protocol="tcp",
        from_port=need.nfs_port,
        to_port=need.nfs_port,
    )
    # As for FSx for Lustre: what holds checkpoints is deleted by hand.
    kept = [_of("lifecycle", (), prevent_destroy=True)] if need.checkpoints_in_s3_files else []
    yield _resource(
        "aws_s3files_file_system",
        "training",
        *kept,
        bucket=Expression('"arn:${data.aws_partition.current.partition}:s3:::${local.bucket_name}"'),
        role_arn=Expression("var.s3_files_role_arn"),
        **({"accept_bucket_warning": True} if need.accepts_bucket_warning else {}),
        **({"depends_on": [Expression("aws_s3_bucket_versioning.data")]} if need.makes_bucket else {}),
    )
    yield _resource(
        "aws_s3files_mount_target",
        "training",
        file_system_id=Expression("aws_s3files_file_system.training.id"),
        subnet_id=Expression("var.subnet_id"),
        security_groups=[Expression("aws_security_group.mount_target.id")],
    )


def _outputs(need: Needed) -> list[Block]:
    values = {"bucket_name": "local.bucket_name"}
    if need.file_system is not None:
        for name in ("id", "dns_name", "mount_name"):
            values[f"file_system_{name}"] = f"aws_fsx_lustre_file_system.training.{name}"
    if need.directory_bucket:
        values["directory_bucket_name"] = "aws_s3_directory_bucket.training.bucket"
    if need.s3_files:
        values["s3_files_file_system_id"] = "aws_s3files_file_system.training.id"
    return [_of("output", (name,), value=Expression(value)) for name, value in values.items()]


def _resource(kind: str, name: str, *nested: Block, **attributes: Any) -> Block:
    return _of("resource", (kind, name), *nested, **attributes)


def _of(block: str, labels: tuple[str, ...], *nested: Block, **attributes: Any) -> Block:
    """A block with its attributes first, then the blocks inside it."""
    return Block(block, labels, (*(Attribute(name, value) for name, value in attributes.items()), *nested))


def _block(block: Block, indent: int = 0) -> Iterator[str]:
    """The lines of a block, laid out as `terraform fmt` does."""
    pad = " " * indent
    head = " ".join([block.kind, *(f'"{label}"' for label in block.labels)])
    if not block.body:
        yield f"{pad}{head} {{}}"
        return
    yield f"{pad}{head} {{"
    first = True
    for is_block, entries in groupby(block.body, key=lambda entry: isinstance(entry, Block)):
        if is_block:
            for entry in entries:
                if not first:
                    yield ""
                assert isinstance(entry, Block)  # noqa: S101 — what it is grouped by
                yield from _block(entry, indent + 2)
                first = False
        else:
            yield from _attributes([entry for entry in entries if isinstance(entry, Attribute)], indent + 2)
            first = False
    yield f"{pad}}}"


def _attributes(attributes: list[Attribute], indent: int) -> Iterator[str]:
    """One a line, with their signs under each other; a list or map of several lines stands by itself."""
    pad = " " * indent
    for several, group in groupby(attributes, key=lambda attribute: "\n" in _value(attribute.value, indent)):
        row = list(group)
        width = 0 if several else max(len(attribute.name) for attribute in row)
        for attribute in row:
            yield f"{pad}{attribute.name:<{width}} = {_value(attribute.value, indent)}"


def _value(value: Any, indent: int) -> str:
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, Mapping):
        inside = " " * (indent + 2)
        width = max(map(len, value))
        rows = "".join(f"{inside}{name:<{width}} = {_value(part, indent + 2)}\n" for name, part in value.items())
        return f"{{\n{rows}{' ' * indent}}}"
    if isinstance(value, list):
        parts = [_value(part, indent) for part in value]
        if len(parts) <= _IN_ONE_LINE:
            return f"[{', '.join(parts)}]"
        return "[\n" + "".join(f"{' ' * (indent + 2)}{part},\n" for part in parts) + f"{' ' * indent}]"
    written = json.dumps(value, ensure_ascii=False)
    return written.replace("${", "$${").replace("%{", "%%{") if isinstance(value, str) else written
