"""The plan as templates: accepted by AWS's own schemas, read back, and equal to the plan value by value."""

from __future__ import annotations

import ast
import io
import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import hcl2
import pytest
import yaml
from cfnlint.api import lint
from examples import LANGUAGE_MODEL, SAVES_LARGE, SAVES_MANY, configured_at

from gpufeed.cli import main
from gpufeed.facts import load
from gpufeed.facts.errors import InputError
from gpufeed.model import fsx
from gpufeed.model.advise import recommend
from gpufeed.model.plan_cost import storage_per_month
from gpufeed.model.recommendation import Recommendation
from gpufeed.model.workload import Workload
from gpufeed.present.infrastructure import cloudformation, files, terraform
from gpufeed.present.infrastructure.need import needed

FACTS = load()
ROLES = ("training_reads", "checkpoints")
# What CreateFileSystem documents (API reference of Amazon FSx, read in botocore 1.44.8).
PER_UNIT = {
    ("PERSISTENT_1", "SSD"): {50, 100, 200},
    ("PERSISTENT_1", "HDD"): {12, 40},
    ("PERSISTENT_2", "SSD"): {125, 250, 500, 1000},
}
METADATA_IOPS = {1500, 3000, 6000, *range(12_000, 192_001, 12_000)}
EFA_STEP = {125: 38_400, 250: 19_200, 500: 9_600, 1000: 4_800}  # GiB, the guide's getting-started page


def plan(**traits: Any) -> Recommendation:
    job = {"task": "full-fine-tuning", "instances": 8, "instance_type": "p5.48xlarge", "preset": "image-classification"}
    job |= {"dataset_bytes": 150e9, "objects": 1_281_167, "region": "us-east-1", "checkpoint_interval": 1800}
    return recommend(Workload.from_mapping(job | {"model_parameters": 3e8} | traits, FACTS), FACTS)


def placed(found: Recommendation, reads: str, checkpoints: str, backed_by: str | None = None) -> Recommendation:
    """The same plan with other placements, as another job would have them."""
    options = dict(zip(ROLES, (reads, checkpoints), strict=True))
    lustre = found.option("fsx-for-lustre").supply.configuration
    placements = {
        role: replace(
            place,
            option=options.get(role, place.option),
            backed_by=backed_by if role in ROLES else None,
            configuration=lustre if options.get(role) == "fsx-for-lustre" else {},
        )
        for role, place in found.placements.items()
    }
    return replace(found, placements=placements)


def with_file_system(found: Recommendation, name: str, capacity: float, need: fsx.Need) -> Recommendation:
    """The same plan with this type of file system."""
    settings = configured_at(name, capacity, need).settings
    both = placed(found, "fsx-for-lustre", "fsx-for-lustre")
    placements = {
        role: replace(place, configuration=settings) if role in ROLES else place
        for role, place in both.placements.items()
    }
    return replace(both, placements=placements)


BASE = plan()
NO_NEED = fsx.Need(holds_bytes=1e12)
PLANS = {
    "as the model has it": BASE,
    "file system for reads only": placed(BASE, "fsx-for-lustre", "s3-standard"),
    "file system for checkpoints only": placed(BASE, "s3-standard", "fsx-for-lustre"),
    "objects": placed(BASE, "s3-standard", "s3-standard"),
    "objects at random": placed(plan(reads="random", request_bytes=8192), "s3-standard", "s3-standard"),
    "express": placed(BASE, "s3-express-one-zone", "s3-express-one-zone"),
    "mountpoint": placed(BASE, "mountpoint-s3", "s3-standard", "s3-standard"),
    "mountpoint on express": placed(BASE, "mountpoint-s3", "mountpoint-s3", "s3-express-one-zone"),
    "s3 files": placed(BASE, "s3-files", "s3-files", "s3-standard"),
    "s3 files, many objects": placed(
        plan(dataset_bytes=2e13, objects=20_000_000), "s3-files", "s3-files", "s3-standard"
    ),
    "all of them": placed(BASE, "s3-files", "fsx-for-lustre", "s3-express-one-zone"),
    "checkpoints alone": plan(
        task="pretraining",
        instances=4,
        checkpoint_bytes=980e9,
        restore_target=24,
        preset="llm-text",
        interface="s3-api",
    ),
    "in China": plan(region="cn-north-1", interface="posix", file_operations=["lock"]),
    "keys and nat": placed(
        plan(encryption="sse-kms", network_path="nat"), "s3-express-one-zone", "fsx-for-lustre", "s3-express-one-zone"
    ),
    "adapters": placed(plan(task="lora", preset="lora", model_parameters=7e9), "s3-standard", "s3-standard"),
    "keys, objects": placed(plan(encryption="sse-kms-bucket-key"), "s3-standard", "s3-standard"),
    "elsewhere": placed(plan(network_path="other-region"), "s3-express-one-zone", "s3-standard"),
    "lustre elsewhere": placed(plan(network_path="other-region"), "fsx-for-lustre", "fsx-for-lustre"),
    "in S3": placed(plan(data_in_s3=True), "fsx-for-lustre", "fsx-for-lustre"),
    "in S3, keys": placed(plan(data_in_s3=True, encryption="sse-kms"), "s3-files", "fsx-for-lustre", "s3-standard"),
    "in S3, keys, express": placed(
        plan(data_in_s3=True, encryption="sse-kms"), "s3-express-one-zone", "s3-express-one-zone"
    ),
    "in S3 elsewhere": placed(plan(data_in_s3=True, network_path="other-region"), "s3-standard", "s3-standard"),
    "large": plan(instances=256, dataset_bytes=2e15, objects=17_000_000_000),
    **{
        name: with_file_system(BASE, name, fsx.capacity_for(section, NO_NEED, FACTS), NO_NEED)
        for name, section in FACTS.fsx.items()
        if section.get_value("s3_link")
    },
    "many opens": with_file_system(BASE, "PERSISTENT_2-SSD-250", 2400, fsx.Need(1e12, opens_per_s=100_000)),
    "efa": with_file_system(BASE, "PERSISTENT_2-SSD-500", 9600, fsx.Need(1e12, efa=True)),
}


@cache
def template(name: str) -> tuple[str, dict[str, Any]]:
    text = files(PLANS[name], FACTS, "cloudformation", version="0.1.0")["gpufeed.yaml"]
    document: dict[str, Any] = yaml.safe_load(text)
    return text, document


@cache
def hcl(name: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """The resources of the Terraform configuration: (type, name) → body, without the quotes the parser keeps."""
    read = plain(hcl2.loads(files(PLANS[name], FACTS, "terraform", version="0.1.0")["main.tf"]))
    return {
        (kind, name): body
        for block in read.get("resource", [])
        for kind, by in block.items()
        for name, body in by.items()
    }


def plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {plain(key): plain(value) for key, value in node.items() if key != "__is_block__"}
    if isinstance(node, list):
        return [plain(item) for item in node]
    return json.loads(node) if isinstance(node, str) and node.startswith('"') else node


def of_type(document: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {name: body for name, body in document["Resources"].items() if body["Type"] == kind}


@pytest.mark.parametrize(
    "name",
    [
        *("efa", "all of them", "in China", "keys and nat", "keys, objects"),
        *("in S3", "in S3, keys", "in S3, keys, express", "in S3 elsewhere"),
    ],
)  # together every resource; slow
def test_cfn_lint_has_nothing_to_say(name: str) -> None:
    text, _ = template(name)
    assert [str(match) for match in lint(text, regions=[PLANS[name].region])] == []


@pytest.mark.parametrize("name", PLANS)
def test_what_is_written_is_what_was_built(name: str) -> None:
    text, document = template(name)
    assert document == json.loads(json.dumps(cloudformation.document(needed(PLANS[name], FACTS, "0.1.0"))))
    assert files(PLANS[name], FACTS, "cloudformation", version="0.1.0")["gpufeed.yaml"] == text


@pytest.mark.parametrize("name", PLANS)
def test_the_file_system_is_the_one_of_the_plan_in_both_languages(name: str) -> None:
    found = PLANS[name]
    _, document = template(name)
    resources = hcl(name)
    wanted = any(found.placements[role].option == "fsx-for-lustre" for role in found.placements)
    systems = list(of_type(document, "AWS::FSx::FileSystem").values())
    assert len(systems) == int(wanted)
    assert (("aws_fsx_lustre_file_system", "training") in resources) == wanted
    if not wanted:
        return
    placed_on = [place for place in found.placements.values() if place.option == "fsx-for-lustre"]
    settings = placed_on[0].configuration
    properties = systems[0]["Properties"]
    lustre = properties["LustreConfiguration"]
    same = resources["aws_fsx_lustre_file_system", "training"]
    scratch = settings["deployment_type"].startswith("SCRATCH")
    for ours, cloud, terra in (
        (settings["deployment_type"], lustre["DeploymentType"], same["deployment_type"]),
        (settings["storage_type"], properties["StorageType"], same["storage_type"]),
        (settings["storage_capacity_gib"], properties["StorageCapacity"], same["storage_capacity"]),
        (
            None if scratch else settings["throughput_mb_per_s_per_tib"],
            lustre.get("PerUnitStorageThroughput"),
            same.get("per_unit_storage_throughput"),
        ),
        (settings.get("efa", False), lustre.get("EfaEnabled", False), same.get("efa_enabled", False)),
        ("2.15", properties["FileSystemTypeVersion"], same["file_system_type_version"]),
    ):
        assert cloud == ours == terra
    # What comes with the capacity is AUTOMATIC; anything above it is ordered.
    metadata = lustre.get("MetadataConfiguration")
    [same_metadata] = same.get("metadata_configuration", [None])
    if "metadata_iops" not in settings:
        assert metadata is None and same_metadata is None
    elif settings["metadata_iops"] > fsx.automatic_metadata_iops(settings["storage_capacity_gib"], FACTS):
        assert metadata == {"Mode": "USER_PROVISIONED", "Iops": settings["metadata_iops"]}
        assert same_metadata == {"mode": "USER_PROVISIONED", "iops": settings["metadata_iops"]}
    else:
        assert metadata == {"Mode": "AUTOMATIC"} and same_metadata == {"mode": "AUTOMATIC"}


@pytest.mark.parametrize("name", PLANS)
def test_every_value_of_a_file_system_is_one_that_aws_allows(name: str) -> None:
    _, document = template(name)
    for system in of_type(document, "AWS::FSx::FileSystem").values():
        properties = system["Properties"]
        lustre = properties["LustreConfiguration"]
        kind, storage = lustre["DeploymentType"], properties["StorageType"]
        per_unit, capacity = lustre.get("PerUnitStorageThroughput"), properties["StorageCapacity"]
        if kind == "SCRATCH_2":
            assert per_unit is None
        else:
            assert per_unit in PER_UNIT[kind, storage]
        # 1,200 GiB, 2,400 GiB and increments of 2,400; with HDD increments of 6,000 (12) or 1,800 (40).
        step = {12: 6000, 40: 1800}.get(per_unit or 0, 2400)
        least = 1200 if storage == "SSD" else step
        assert capacity == least or (capacity >= step and capacity % step == 0)
        if lustre.get("EfaEnabled"):
            assert kind == "PERSISTENT_2" and "MetadataConfiguration" in lustre
            assert capacity % EFA_STEP[per_unit] == 0
        iops = lustre.get("MetadataConfiguration", {}).get("Iops")
        assert iops is None or (kind == "PERSISTENT_2" and iops in METADATA_IOPS)
        assert (storage == "HDD") == (lustre.get("DriveCacheType") == "NONE")


def test_the_ordered_metadata_iops_of_many_opens_are_the_step_that_serves_them() -> None:
    # 100,000 opens/s at 2 operations per IOPS need 50,000: the next step is 60,000, and 2,400 GiB bring only 3,000.
    _, document = template("many opens")
    [system] = of_type(document, "AWS::FSx::FileSystem").values()
    assert system["Properties"]["LustreConfiguration"]["MetadataConfiguration"] == {
        "Mode": "USER_PROVISIONED",
        "Iops": 60_000,
    }


def test_a_file_system_asks_no_bucket_of_another_region_for_its_changes() -> None:
    _, document = template("lustre elsewhere")
    found = {
        body["Properties"]["FileSystemPath"]: body["Properties"].get("S3")
        for body in of_type(document, "AWS::FSx::DataRepositoryAssociation").values()
    }
    exported = {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert found == {"/data": None, "/checkpoints": exported}
    same = {
        body["file_system_path"]: body.get("s3")
        for (kind, _), body in hcl("lustre elsewhere").items()
        if kind.endswith("_association")
    }
    assert same == {"/data": None, "/checkpoints": [{"auto_export_policy": [{"events": ["NEW", "CHANGED"]}]}]}


def test_data_is_imported_and_checkpoints_are_exported_but_never_their_deletion() -> None:
    _, document = template("efa")
    associations = {
        body["Properties"]["FileSystemPath"]: body["Properties"]
        for body in of_type(document, "AWS::FSx::DataRepositoryAssociation").values()
    }
    same = {body["file_system_path"]: body for (kind, _), body in hcl("efa").items() if kind.endswith("_association")}
    assert associations.keys() == same.keys() == {"/data", "/checkpoints"}
    imports, exports = ["NEW", "CHANGED", "DELETED"], ["NEW", "CHANGED"]
    assert associations["/data"]["S3"] == {"AutoImportPolicy": {"Events": imports}}
    assert associations["/checkpoints"]["S3"] == {"AutoExportPolicy": {"Events": exports}}
    assert same["/data"]["s3"] == [{"auto_import_policy": [{"events": imports}]}]
    assert same["/checkpoints"]["s3"] == [{"auto_export_policy": [{"events": exports}]}]
    for path in associations:
        assert associations[path]["ImportedFileChunkSize"] == same[path]["imported_file_chunk_size"] == 1024
        by_cloud, by_terra = (
            associations[path]["BatchImportMetaDataOnCreate"],
            same[path]["batch_import_meta_data_on_create"],
        )
        assert by_cloud == by_terra == (path == "/data")


def test_a_file_system_for_checkpoints_alone_is_neither_linked_to_the_data_set_nor_filled_with_it() -> None:
    name = "file system for checkpoints only"
    [by_cloud] = of_type(template(name)[1], "AWS::FSx::DataRepositoryAssociation").values()
    [by_terra] = [body for (kind, _), body in hcl(name).items() if kind.endswith("_association")]
    assert by_cloud["Properties"]["FileSystemPath"] == by_terra["file_system_path"] == "/checkpoints"
    assert "DependsOn" not in by_cloud and "depends_on" not in by_terra
    assert "DataPrefix" not in template(name)[1]["Parameters"]
    written = files(PLANS[name], FACTS, "snippets", version="0.1.0")
    assert [file for file, text in written.items() if "hsm_restore" in text or "/data" in text] == []


def test_a_file_system_for_reads_alone_has_no_way_for_checkpoints() -> None:
    [association] = of_type(template("file system for reads only")[1], "AWS::FSx::DataRepositoryAssociation").values()
    assert association["Properties"]["FileSystemPath"] == "/data"
    written = files(PLANS["file system for reads only"], FACTS, "snippets", version="0.1.0")
    assert "hsm_restore" in written["fsx-load.sh"] and "fsx-release.sh" not in written


def test_a_mount_for_checkpoints_alone_has_no_threads_for_loaders() -> None:
    saves = placed(BASE, "s3-standard", "mountpoint-s3", "s3-standard")
    assert "max-threads" not in files(saves, FACTS, "snippets", version="0.1.0")["mountpoint.sh"]


def test_where_export_falls_behind_each_file_says_which_saves_to_link() -> None:
    # 980 GB at 875 MB/s are 1,120 s of export against saves every 600 s: one in 2.
    found = placed(plan(model_parameters=7e10, checkpoint_interval=600), "s3-standard", "fsx-for-lustre")
    for form in ("cloudformation", "terraform", "snippets"):
        for text in files(found, FACTS, form, version="0.1.0").values():
            assert "one save in 2 to the linked directory" in text


def test_what_holds_checkpoints_outlives_its_stack() -> None:
    kept = {"AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation", "AWS::EC2::SecurityGroup"}
    for name, policy in (("efa", "Retain"), ("file system for reads only", "Delete")):
        _, document = template(name)
        resources = document["Resources"].values()
        assert {body["DeletionPolicy"] for body in resources if body["Type"] in kept} == {policy}
        assert document["Resources"]["DataBucket"]["DeletionPolicy"] == "Retain"
        system = hcl(name)["aws_fsx_lustre_file_system", "training"]
        assert ("lifecycle" in system) == (policy == "Retain")


def test_s3_files_outlives_its_stack_too_where_it_holds_checkpoints() -> None:
    for name, policy in (("s3 files", "Retain"), ("all of them", "Delete")):
        [system] = of_type(template(name)[1], "AWS::S3Files::FileSystem").values()
        assert system["DeletionPolicy"] == policy
        assert ("lifecycle" in hcl(name)["aws_s3files_file_system", "training"]) == (policy == "Retain")


def test_more_objects_than_s3_files_takes_without_a_warning_have_it_accepted() -> None:
    for name, accepted in (("s3 files", None), ("s3 files, many objects", True)):  # 12 million, about
        [system] = of_type(template(name)[1], "AWS::S3Files::FileSystem").values()
        assert system["Properties"].get("AcceptBucketWarning") is accepted
        assert hcl(name)["aws_s3files_file_system", "training"].get("accept_bucket_warning") is accepted


def ports(document: dict[str, Any]) -> Iterator[tuple[str, str, int | None, int | None]]:
    for kind in ("Ingress", "Egress"):
        for body in of_type(document, f"AWS::EC2::SecurityGroup{kind}").values():
            rule = body["Properties"]
            yield kind, rule["IpProtocol"], rule.get("FromPort"), rule.get("ToPort")


def test_lustre_has_its_ports_and_efa_all_traffic_each_way() -> None:
    _, document = template("PERSISTENT_2-SSD-125")
    three_ways = [("Ingress", "tcp", 988, 988), ("Ingress", "tcp", 1018, 1023)] * 3
    assert sorted(ports(document)) == sorted(three_ways)
    same = [
        (body["ip_protocol"], body["from_port"], body["to_port"])
        for (kind, _), body in hcl("PERSISTENT_2-SSD-125").items()
        if kind == "aws_vpc_security_group_ingress_rule"
    ]
    assert sorted(same) == sorted([("tcp", 988, 988), ("tcp", 1018, 1023)] * 3)
    # Terraform takes away the rule that lets everything out of a new group: to itself and to the clients.
    out = [
        (body["security_group_id"], body["ip_protocol"], body["from_port"], body["to_port"])
        for (kind, _), body in hcl("PERSISTENT_2-SSD-125").items()
        if kind == "aws_vpc_security_group_egress_rule"
    ]
    group = "${aws_security_group.file_system.id}"
    assert sorted(out) == sorted([(group, "tcp", 988, 988), (group, "tcp", 1018, 1023)] * 2)
    _, with_efa = template("efa")
    assert sorted(ports(with_efa)) == [("Egress", "-1", None, None)] * 3 + [("Ingress", "-1", None, None)] * 3


@pytest.mark.parametrize("name", PLANS)
def test_unfinished_uploads_are_cleaned_up_after_a_week_in_every_bucket(name: str) -> None:
    _, document = template(name)
    buckets = of_type(document, "AWS::S3::Bucket") | of_type(document, "AWS::S3Express::DirectoryBucket")
    same = [body for (kind, _), body in hcl(name).items() if kind == "aws_s3_bucket_lifecycle_configuration"]
    with_directory_bucket = ("express", "mountpoint on express", "all of them", "keys and nat", "elsewhere")
    made = (not name.startswith("in S3")) + (name in with_directory_bucket or name == "in S3, keys, express")
    assert len(buckets) == len(same) == made
    for bucket in buckets.values():
        rule = bucket["Properties"]["LifecycleConfiguration"]["Rules"][0]
        assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    for body in same:
        assert body["rule"][0]["abort_incomplete_multipart_upload"] == [{"days_after_initiation": 7}]


@pytest.mark.parametrize(
    ("name", "endpoints"),
    [
        ("as the model has it", {"s3"}),  # where nothing is stated a gateway endpoint is taken
        ("keys and nat", {"s3", "s3express"}),
        ("express", {"s3", "s3express"}),
        ("mountpoint on express", {"s3", "s3express"}),
        ("elsewhere", {"s3express"}),  # a gateway endpoint ends at its Region
    ],
)
def test_the_way_to_the_buckets_is_a_gateway_endpoint_for_the_route_tables_that_are_named(
    name: str, endpoints: set[str]
) -> None:
    _, document = template(name)
    found = of_type(document, "AWS::EC2::VPCEndpoint")
    same = {label: body for (kind, label), body in hcl(name).items() if kind == "aws_vpc_endpoint"}
    assert same.keys() == endpoints
    services = {body["Properties"]["ServiceName"]["Fn::Sub"] for body in found.values()}
    assert services == {f"com.amazonaws.${{AWS::Region}}.{service}" for service in endpoints}
    for body in found.values():
        properties = body["Properties"]
        routes = properties["RouteTableIds"]["Ref"]
        assert (properties["VpcEndpointType"], properties["VpcId"]) == ("Gateway", {"Ref": "VpcId"})
        # None is made where none is named: a route table takes only one.
        joined = {"Fn::Equals": [{"Fn::Join": [",", {"Ref": routes}]}, ""]}
        assert document["Conditions"][body["Condition"]] == {"Fn::Not": [joined]}
    for service, body in same.items():
        variable = {"s3": "route_table_ids", "s3express": "express_route_table_ids"}[service]
        assert body["service_name"] == f"com.amazonaws.us-east-1.{service}"
        assert body["vpc_endpoint_type"] == "Gateway"
        assert body["route_table_ids"] == f"${{var.{variable}}}"
        assert body["count"] == f"${{length(var.{variable}) > 0 ? 1 : 0}}"


def test_behind_a_nat_gateway_the_route_tables_must_be_named_and_so_always_for_express() -> None:
    _, behind_nat = template("keys and nat")
    _, express = template("express")
    assert "Default" not in behind_nat["Parameters"]["RouteTableIds"]
    assert express["Parameters"]["RouteTableIds"]["Default"] == ""
    assert "Default" not in express["Parameters"]["ExpressRouteTableIds"]
    for name, defaults in (("keys and nat", [None, None]), ("express", [[], None])):
        text = files(PLANS[name], FACTS, "terraform", version="0.1.0")["main.tf"]
        variables = {key: body for block in plain(hcl2.loads(text))["variable"] for key, body in block.items()}
        asked = [variables[key] for key in ("route_table_ids", "express_route_table_ids")]
        assert [one["type"] for one in asked] == ["${list(string)}"] * 2
        assert [one.get("default") for one in asked] == defaults
    assert "Name the route tables" in template("keys and nat")[0]
    assert "Name the route tables" not in template("express")[0]


def test_sse_kms_brings_a_key_and_says_what_a_bucket_key_would_do() -> None:
    text, document = template("keys and nat")
    arn = {"Fn::If": ["KeyIsNamed", {"Ref": "KmsKeyArn"}, {"Fn::GetAtt": ["DataKey", "Arn"]}]}
    by_default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": arn}
    buckets = of_type(document, "AWS::S3::Bucket") | of_type(document, "AWS::S3Express::DirectoryBucket")
    rules = {
        name: body["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        for name, body in buckets.items()
    }
    # As planned: without a bucket key, which a directory bucket always has.
    assert rules == {
        "DataBucket": [{"BucketKeyEnabled": False, "ServerSideEncryptionByDefault": by_default}],
        "DirectoryBucket": [{"BucketKeyEnabled": True, "ServerSideEncryptionByDefault": by_default}],
    }
    assert "Without a bucket key" in text
    same = hcl("keys and nat")
    for name, bucket_key in (("data", False), ("training", True)):
        [rule] = same["aws_s3_bucket_server_side_encryption_configuration", name]["rule"]
        assert rule["bucket_key_enabled"] is bucket_key
        [given] = rule["apply_server_side_encryption_by_default"]
        assert given == {"sse_algorithm": "aws:kms", "kms_master_key_id": "${local.key_arn}"}
    with_bucket_key, document = template("keys, objects")
    [rule] = document["Resources"]["DataBucket"]["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["BucketKeyEnabled"] is True and "Without a bucket key" not in with_bucket_key


def test_a_key_outlives_its_stack_and_lets_a_linked_file_system_use_it() -> None:
    for name, statements in (("keys and nat", ["Account", "LinkedFileSystems"]), ("keys, objects", ["Account"])):
        _, document = template(name)
        key = document["Resources"]["DataKey"]
        assert (key["DeletionPolicy"], key["Condition"]) == ("Retain", "CreateKey")
        policy = key["Properties"]["KeyPolicy"]["Statement"]
        assert [statement["Sid"] for statement in policy] == statements
        same = hcl(name)["aws_kms_key", "data"]
        assert same["lifecycle"] == [{"prevent_destroy": True}]
        assert ("policy" in same) == (len(statements) > 1)
    _, document = template("keys and nat")
    condition = document["Resources"]["DataKey"]["Properties"]["KeyPolicy"]["Statement"][1]["Condition"]
    assert condition["StringEquals"] == {"kms:CallerAccount": {"Ref": "AWS::AccountId"}}
    role = condition["StringLike"]["aws:PrincipalArn"]["Fn::Sub"]
    assert role.endswith("/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_fs-*")
    text = files(PLANS["keys and nat"], FACTS, "terraform", version="0.1.0")["main.tf"]
    [data] = [block["aws_iam_policy_document"]["key"] for block in plain(hcl2.loads(text))["data"]
              if "aws_iam_policy_document" in block]  # fmt: skip
    assert [statement["sid"] for statement in data["statement"]] == ["Account", "LinkedFileSystems"]
    assert (
        data["statement"][1]["actions"]
        == document["Resources"]["DataKey"]["Properties"]["KeyPolicy"]["Statement"][1]["Action"]
    )


def test_no_key_is_made_for_a_bucket_that_is_there_already() -> None:
    unnamed = {"Fn::Not": [{"Condition": "KeyIsNamed"}]}
    _, objects = template("keys, objects")
    assert objects["Conditions"]["CreateKey"] == {"Fn::And": [{"Condition": "CreateBucket"}, unnamed]}
    count = hcl("keys, objects")["aws_kms_key", "data"]["count"]
    assert 'var.kms_key_arn == ""' in count and 'var.existing_bucket_name == ""' in count
    _, with_directory_bucket = template("keys and nat")
    assert with_directory_bucket["Conditions"]["CreateKey"] == unnamed
    assert "BucketEncryption" not in template("express")[1]["Resources"]["DataBucket"]["Properties"]


BUCKET_NAME = "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"
IN_S3 = ("in S3", "in S3, keys", "in S3, keys, express", "in S3 elsewhere")


def variables(name: str) -> dict[str, dict[str, Any]]:
    """Those of the Terraform configuration."""
    text = files(PLANS[name], FACTS, "terraform", version="0.1.0")["main.tf"]
    return {key: body for block in plain(hcl2.loads(text))["variable"] for key, body in block.items()}


@pytest.mark.parametrize("name", IN_S3)
def test_data_that_is_in_s3_already_keeps_its_bucket_which_has_to_be_named(name: str) -> None:
    text, document = template(name)
    asked = document["Parameters"]["ExistingBucketName"]
    assert (asked["AllowedPattern"], "Default" in asked) == (BUCKET_NAME, False)
    assert of_type(document, "AWS::S3::Bucket") == {} and "CreateBucket" not in document["Conditions"]
    assert document["Outputs"]["BucketName"]["Value"] == {"Ref": "ExistingBucketName"}
    same = variables(name)["existing_bucket_name"]
    [valid] = same["validation"]
    assert "default" not in same and BUCKET_NAME in valid["condition"]
    assert [label for kind, label in hcl(name) if kind in ("aws_s3_bucket", "aws_s3_bucket_versioning")] == []
    configuration = files(PLANS[name], FACTS, "terraform", version="0.1.0")["main.tf"]
    assert "bucket_name = var.existing_bucket_name" in configuration and "aws_s3_bucket.data" not in configuration
    assert "aws_s3_bucket_versioning" not in configuration
    for written in (text, configuration):
        assert "# The data set is in S3 already (data_in_s3 = true): the name of its bucket is a parameter" in written


def test_where_it_is_not_said_to_be_there_a_bucket_is_created_unless_one_is_named() -> None:
    for traits in ({}, {"data_in_s3": False}):
        found = placed(plan(**traits), "s3-standard", "s3-standard")
        need = needed(found, FACTS, "0.1.0")
        document = cloudformation.document(need)
        assert document["Parameters"]["ExistingBucketName"]["Default"] == ""
        assert document["Resources"]["DataBucket"]["Condition"] == "CreateBucket"
        written = terraform.configuration(need)
        assert 'resource "aws_s3_bucket" "data"' in written and "The data set is in S3 already" not in written


def test_what_links_to_the_data_asks_for_its_keys_and_the_bucket_by_its_name() -> None:
    _, document = template("in S3")
    links = {
        body["Properties"]["DataRepositoryPath"]["Fn::Sub"][1]["Bucket"]["Ref"]
        for body in of_type(document, "AWS::FSx::DataRepositoryAssociation").values()
    }
    assert links == {"ExistingBucketName"}
    assert "Default" not in document["Parameters"]["DataPrefix"] and "default" not in variables("in S3")["data_prefix"]
    assert template("efa")[1]["Parameters"]["DataPrefix"]["Default"] == "data/"
    # Nothing made here could delete old checkpoints, so no days are asked for.
    assert (
        "CheckpointExpirationDays" not in document["Parameters"] and "ExpireCheckpoints" not in document["Conditions"]
    )
    _, express = template("in S3, keys, express")
    assert "CheckpointExpirationDays" in express["Parameters"]


def test_a_key_is_made_for_a_directory_bucket_alone_where_the_data_is_in_s3() -> None:
    text, document = template("in S3, keys")
    assert "DataKey" not in document["Resources"] and "KmsKeyArn" not in document["Parameters"]
    assert ("aws_kms_key", "data") not in hcl("in S3, keys")
    assert "# That bucket keeps its own key, which has to let the instances use it" in text
    assert "# S3 Files needs versioning switched on for that bucket." in text
    _, express = template("in S3, keys, express")
    assert express["Conditions"]["CreateKey"] == {"Fn::Not": [{"Condition": "KeyIsNamed"}]}
    encrypted = [label for kind, label in hcl("in S3, keys, express") if kind.endswith("encryption_configuration")]
    assert encrypted == ["training"]


def test_a_plan_with_nothing_to_build_is_a_template_all_the_same() -> None:
    _, document = template("in S3 elsewhere")
    assert document["Resources"] == {"NothingToBuild": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}
    assert list(document["Parameters"]) == ["ExistingBucketName"] and hcl("in S3 elsewhere") == {}


def test_in_chinese_the_head_says_the_same_of_the_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    text = files(PLANS["in S3, keys"], FACTS, "cloudformation", version="0.1.0")["gpufeed.yaml"]
    for line in (
        (
            "# 数据集已在 S3 中（data_in_s3 = true）：其存储桶的名称是没有默认值的参数，不会另建存储桶。"
            "该桶的生命周期规则保持不变；客户端设置中的 s3-lifecycle.sh 有适用的规则。"
        ),
        "# 该桶沿用自己的密钥，该密钥须允许实例使用；若有 FSx 和 S3 Files 的角色，也须允许它们使用。",
        "# S3 Files 要求该桶已开启版本控制。",
    ):
        assert line in text.splitlines()


def test_s3_files_needs_versioning_and_so_old_versions_go() -> None:
    _, document = template("s3 files")
    properties = document["Resources"]["DataBucket"]["Properties"]
    assert properties["VersioningConfiguration"] == {"Status": "Enabled"}
    assert properties["LifecycleConfiguration"]["Rules"][1]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    [system] = of_type(document, "AWS::S3Files::FileSystem").values()
    assert system["Properties"]["RoleArn"] == {"Ref": "S3FilesRoleArn"}
    same = hcl("s3 files")
    assert same["aws_s3files_file_system", "training"]["role_arn"] == "${var.s3_files_role_arn}"
    rule = same["aws_vpc_security_group_ingress_rule", "nfs_from_clients"]
    assert (rule["from_port"], rule["to_port"]) == (2049, 2049)


def test_a_directory_bucket_lies_in_a_zone_of_the_region_that_has_them() -> None:
    text, document = template("express")
    assert document["Parameters"]["AvailabilityZoneId"]["AllowedValues"] == ["use1-az4", "use1-az5", "use1-az6"]
    bucket = hcl("express")["aws_s3_directory_bucket", "training"]
    assert bucket["bucket"] == "${var.directory_bucket_base_name}--${var.availability_zone_id}--x-s3"
    assert bucket["data_redundancy"] == "SingleAvailabilityZone"
    tokyo = needed(placed(plan(region="ap-northeast-1"), "s3-express-one-zone", "s3-standard"), FACTS, "0.1.0")
    assert tokyo.zones == ("apne1-az1", "apne1-az4") and tokyo.zone is None
    assert "SubnetId" not in text  # nothing there lies in a subnet


@pytest.mark.parametrize(
    ("region", "zone", "default"),
    [
        ("us-east-1", "use1-az5", "use1-az5"),
        ("us-east-1", None, None),
        ("us-east-1", "use1-az1", None),  # has no directory buckets: neither template would take it
        ("eu-central-1", "euc1-az1", "euc1-az1"),  # whose zones with directory buckets are not known
    ],
)
def test_the_stated_zone_is_where_the_directory_bucket_is_to_lie(
    region: str, zone: str | None, default: str | None
) -> None:
    found = placed(plan(region=region, zone=zone), "s3-express-one-zone", "s3-standard")
    need = needed(found, FACTS, "0.1.0")
    assert cloudformation.document(need)["Parameters"]["AvailabilityZoneId"].get("Default") == default
    [variable] = re.findall(r'variable "availability_zone_id" {.*?\n}', terraform.configuration(need), re.DOTALL)
    assert re.findall(r'default *= "(.*)"', variable) == ([] if default is None else [default])


def test_a_month_is_that_of_what_lies_where_the_plan_puts_it() -> None:
    """20 TB of data read from S3; 2 × 980 GB of checkpoints on Express, each copied to S3."""
    found = plan(
        task="pretraining",
        instances=32,
        model_parameters=70e9,
        preset="llm-text",
        dataset_bytes=20e12,
        objects=200_000,
        checkpoint_bytes=980e9,
        checkpoint_interval=1800,
        checkpoints_kept=2,
        run_hours=730,
    )
    assert (found.recommended, found.placements["checkpoints"].option) == ("s3-standard", "s3-express-one-zone")
    total, parts = storage_per_month(found)
    data, kept = 20e12 / 2**30, 2 * 980e9 / 2**30
    expected = {
        ("s3-standard", "base-storage"): data * 0.023,  # USD 428
        ("s3-express-one-zone", "checkpoint-storage"): kept * 0.11,  # USD 201, and nothing for the data set
        ("s3-standard", "checkpoint-copy-storage"): kept * 0.023,  # USD 42
    }
    assert {row: amount and amount.value for row, amount in parts.items()} == pytest.approx(expected)
    assert total is not None and total.value == pytest.approx(sum(expected.values()))
    head = files(found, FACTS, "terraform", version="0.1.0")["main.tf"].splitlines()[:8]
    assert "COST PER MONTH of the storage of this plan: USD 671" in head[1]
    assert head[3] == "#   S3 Express One Zone, checkpoints kept: USD 201"


def test_a_month_is_that_of_all_jobs_at_the_prices_of_the_user() -> None:
    one, four = (storage_per_month(plan(jobs=jobs, checkpoint_bytes=1e12, checkpoints_kept=2))[1] for jobs in (1, 4))
    base = ("s3-standard", "base-storage")
    [kept] = [row for row in one if row[1] == "checkpoint-storage"]
    data, of_all = one[base], four[base]
    assert data is not None and of_all is not None and of_all.value == pytest.approx(data.value)
    mine, theirs = one[kept], four[kept]
    assert mine is not None and theirs is not None and theirs.value == pytest.approx(4 * mine.value)
    cheaper = files(plan(jobs=4, storage_discount=0.25), FACTS, "terraform", version="0.1.0")["main.tf"]
    head = "\n".join(cheaper.splitlines()[:10])
    assert "Your own discount of 25% is taken off" in head.replace("25 %", "25%")
    assert "all 4 jobs" in head


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("form", ["cloudformation", "terraform", "snippets"])
def test_each_file_says_first_what_a_month_costs_and_names_no_account(name: str, form: str) -> None:
    found = PLANS[name]
    cost = "not priced" if found.cost.storage_per_month is None else "USD "
    for file, text in files(found, FACTS, form, version="0.1.0").items():
        head = [line for line in text.splitlines()[:8] if line.startswith("# ")]
        assert f": {cost}" in next(line for line in head if "COST PER MONTH" in line), file
        # An account id has twelve digits; the pattern of a role says so, and no other number here is as long.
        assert re.findall(r"(?<!\d)\d{12}(?!\d)", text) == []


def test_a_text_stays_a_text_whatever_stands_in_it() -> None:
    odd = '": x\n- {a: b} # ${jsonencode(var.x)} %{ if } \u202e \\'
    assert yaml.safe_load("\n".join(cloudformation.yaml({"a": odd, "b": [odd, {"c": odd}], "d": [], "e": 1}))) == {
        "a": odd, "b": [odd, {"c": odd}], "d": [], "e": 1,
    }  # fmt: skip
    block = terraform.Block("resource", ("a", "b"), (terraform.Attribute("text", odd),))
    line = next(line for line in terraform._block(block) if "text" in line)
    assert "$${jsonencode" in line and "%%{ if }" in line and "\n" not in line


@pytest.mark.parametrize("name", PLANS)
def test_snippets_are_whole_and_name_sources_that_exist(name: str) -> None:
    written = files(PLANS[name], FACTS, "snippets", version="0.1.0")
    assert "s3-lifecycle.sh" in written and len(written) >= 2
    for file, text in written.items():
        assert re.findall(r"@[a-z_]+@", text) == []
        [cited] = re.findall(r"Sources?: ([a-z0-9, -]+)", text)[:1]
        assert [source for source in cited.split(", ") if source.strip() not in FACTS.sources] == []
        if file.endswith(".py"):
            ast.parse(text)
        if file.endswith(".yaml"):
            volume, claim = yaml.safe_load_all(text)
            assert (volume["kind"], claim["spec"]["volumeName"]) == ("PersistentVolume", volume["metadata"]["name"])


def test_a_mount_has_threads_for_the_reads_in_flight_and_the_flags_of_the_job() -> None:
    # 8 accelerators x 8 workers on each instance read at once; nothing is written, so it is read only.
    text = files(PLANS["mountpoint"], FACTS, "snippets", version="0.1.0")
    assert '--prefix "$PREFIX" --max-threads 64 --read-only\n' in text["mountpoint.sh"]
    assert "    - max-threads 64\n    - read-only\n" in text["mountpoint-eks.yaml"]
    job = plan(file_operations=["rename", "append"], interface="file-paths", model_parameters=7e10)
    writing = files(
        placed(job, "mountpoint-s3", "mountpoint-s3", "s3-express-one-zone"), FACTS, "snippets", version="0.1.0"
    )["mountpoint.sh"]
    # 70e9 parameters x 14 bytes = 980 GB in 64 files: 15.3 GB each, in parts of 8 MiB as the cost has it.
    assert "--allow-delete --allow-overwrite --incremental-upload\n" in writing
    assert "may have up to 78 GiB, 10,000 parts" in writing
    # One file: 98,000,000 bytes in each of 10,000 parts, in whole MiB 94.
    alone = replace(job, demand=replace(job.demand, checkpoint_writers=1))
    written = files(placed(alone, "mountpoint-s3", "mountpoint-s3", "s3-standard"), FACTS, "snippets", version="0.1.0")
    part = 94 * 2**20
    assert f"--allow-delete --write-part-size {part} --read-part-size {part}\n" in written["mountpoint.sh"]
    assert "may have up to 918 GiB, 10,000 parts" in written["mountpoint.sh"]


@pytest.mark.parametrize(
    ("option", "backed_by", "writer"),
    [
        ("s3-standard", None, "s3-connector-checkpoint.py"),
        ("s3-express-one-zone", None, "s3-connector-checkpoint.py"),
        ("mountpoint-s3", "s3-standard", "s3-connector-checkpoint.py"),  # cannot rename, which one rank need not
        ("mountpoint-s3", "s3-express-one-zone", "dcp-checkpoint.py"),  # renames files
        ("fsx-for-lustre", None, "dcp-checkpoint.py"),
        ("s3-files", "s3-standard", "dcp-checkpoint.py"),
    ],
)
def test_checkpoints_are_written_in_a_way_that_their_place_can_do(
    option: str, backed_by: str | None, writer: str
) -> None:
    written = files(placed(BASE, "s3-standard", option, backed_by), FACTS, "snippets", version="0.1.0")
    assert [name for name in written if name.endswith("checkpoint.py")] == [writer]
    # Adapters of LoRA are saved by one rank, and so is what the plan counts and bills.
    adapters = plan(task="lora", preset="lora", model_parameters=7e9)
    assert adapters.demand.checkpoint_writers == 1
    alone = files(placed(adapters, "s3-standard", option, backed_by), FACTS, "snippets", version="0.1.0")
    [one] = [name for name in alone if name.endswith("checkpoint.py")]
    as_files = option not in ("s3-standard", "s3-express-one-zone")
    assert one == ("one-rank-checkpoint.py" if as_files else "s3-connector-one-rank-checkpoint.py")
    assert "dcp" not in "".join(line for line in alone[one].splitlines() if not line.startswith("#"))


def test_each_file_names_the_savers_that_a_mount_does_not_take() -> None:
    found = placed(BASE, "s3-standard", "mountpoint-s3", "s3-standard")
    written = files(found, FACTS, "snippets", version="0.1.0")
    assert {"mountpoint.sh", "s3-connector-checkpoint.py"} <= written.keys()
    for text in (*written.values(), *files(found, FACTS, "terraform", version="0.1.0").values()):
        assert (
            "# Not through the mount: PyTorch DCP's writer for files. It needs rename, which a file there does not"
            in text
        )
        assert "# Through the mount goes what writes each file once, from its beginning to its end: torch.save" in text


@pytest.mark.parametrize(
    ("option", "backed_by", "in_directory_bucket"),
    [
        ("s3-standard", None, False),
        ("s3-express-one-zone", None, True),
        ("mountpoint-s3", "s3-standard", False),
        ("mountpoint-s3", "s3-express-one-zone", True),
    ],
)
def test_a_directory_bucket_is_named_filled_and_copied_from(
    option: str, backed_by: str | None, in_directory_bucket: bool
) -> None:
    written = files(placed(BASE, option, option, backed_by), FACTS, "snippets", version="0.1.0")
    buckets = [re.findall("BUCKET,? (?:is |\\()?the (.*?) bucket", text) for text in written.values()]
    kind = "directory" if in_directory_bucket else "general purpose"
    named = [found for found in buckets if found]
    scripts = {"directory-bucket-load.sh", "directory-bucket-copy.sh"}
    assert (scripts <= written.keys()) is in_directory_bucket is bool(scripts & written.keys())
    of_clients = {name: text for name, text in written.items() if name.startswith(("s3-connector", "mountpoint"))}
    assert of_clients and named
    for text in of_clients.values():
        assert f"the {kind} bucket" in text and ("NAME--ZONE-ID--x-s3" in text) is in_directory_bucket
    if in_directory_bucket:
        assert 'cp "s3://$DIRECTORY_BUCKET/$SAVE" "s3://$BUCKET/$SAVE"' in written["directory-bucket-copy.sh"]
        assert all("Before the directory bucket is deleted" in text for text in written.values())


def test_a_directory_bucket_that_the_model_mounts_is_made_and_filled() -> None:
    # 16 instances read large files under one prefix of a bucket: no file operation asks for a directory bucket.
    starved = {"instances": 16, "instance_type": "p5.48xlarge", "preset": "mlperf-unet3d", "dataset_bytes": 40e12}
    wishes = {"interface": "file-paths", "avoid_parallel_file_system": True, "prefixes": 1, "epochs": 200}
    saves = {"checkpoint_bytes": 1.5e9, "checkpoint_writers": 1, "checkpoint_interval": 3600}
    found = recommend(Workload.from_mapping({"task": "pretraining"} | starved | wishes | saves, FACTS), FACTS)
    need, written = needed(found, FACTS, "0.1.0"), files(found, FACTS, "snippets", version="0.1.0")
    assert need.directory_bucket and "s3express" in need.endpoints
    assert {"directory-bucket-load.sh", "directory-bucket-copy.sh", "mountpoint.sh"} <= written.keys()
    assert "NAME--ZONE-ID--x-s3" in written["mountpoint.sh"]


def test_a_mount_on_a_general_purpose_bucket_is_not_told_to_append_or_rename() -> None:
    job = plan(file_operations=["rename", "append"], interface="file-paths")
    written = files(placed(job, "mountpoint-s3", "mountpoint-s3", "s3-standard"), FACTS, "snippets", version="0.1.0")
    assert "incremental-upload" not in written["mountpoint.sh"] + written["mountpoint-eks.yaml"]


@pytest.mark.parametrize("name", PLANS)
def test_a_data_set_is_loaded_where_it_is_read_from_a_file_system(name: str) -> None:
    written = files(PLANS[name], FACTS, "snippets", version="0.1.0")
    loads = [file for file, text in written.items() if "hsm_restore" in text]
    loaded = PLANS[name].recommended == "fsx-for-lustre" and PLANS[name].option("fsx-for-lustre").first_epoch.way
    assert loads == (["fsx-load.sh"] if loaded and loaded != "while-reading" else [])


@pytest.mark.parametrize("size", [1e9, 980e9, 175e12])
def test_the_part_that_a_checkpoint_writer_is_told_to_set_is_the_one_that_is_billed(size: float) -> None:
    found = placed(plan(checkpoint_bytes=size, checkpoint_writers=2, run_hours=100), "s3-standard", "s3-standard")
    writer = files(found, FACTS, "snippets", version="0.1.0")["s3-connector-checkpoint.py"]
    [part] = re.findall(r"part_size=(\d+)", writer)
    puts = next(line.quantity for line in found.saving("s3-standard").lines if line.id == "checkpoint-puts")
    assert puts is not None
    saves = 100 * 3600 / 1800
    assert puts.value * 1000 == pytest.approx(saves * 2 * (math.ceil(size / 2 / int(part)) + 2))


def test_a_writer_to_s3_is_told_the_part_that_the_plan_says_and_counts_on_one_prefix() -> None:
    found = recommend(Workload.from_mapping(SAVES_LARGE, FACTS), FACTS)
    placed_ = found.placements["checkpoints"]
    [said] = [reason.parameters for reason in placed_.reasons if reason.id == "saves-in-parts"]
    writer = files(found, FACTS, "snippets", version="0.1.0")["s3-connector-checkpoint.py"]
    assert f"part_size={said['part_bytes'].value:.0f})" in writer and said["part_bytes"].value == 128 * 2**20
    # It spreads the ranks over prefixes, which S3 splits in time.
    assert "The plan counts on one" in writer and "no 503" not in writer


def test_a_writer_to_a_directory_bucket_is_told_the_part_that_is_chosen_for_it_and_the_copy_that_of_s3() -> None:
    found = recommend(Workload.from_mapping(SAVES_MANY, FACTS), FACTS)
    written = files(found, FACTS, "snippets", version="0.1.0")
    assert f"part_size={83 * 2**20})" in written["s3-connector-checkpoint.py"]
    assert f"multipart_chunksize {128 * 2**20}\n" in written["directory-bucket-copy.sh"]
    mounted = placed(found, "mountpoint-s3", "mountpoint-s3", "s3-express-one-zone")
    mount = files(mounted, FACTS, "snippets", version="0.1.0")["mountpoint.sh"]
    assert f"--write-part-size {83 * 2**20} --read-part-size {83 * 2**20}\n" in mount


def test_small_reads_inside_large_objects_are_ranged_and_fetch_no_more() -> None:
    written = files(PLANS["objects at random"], FACTS, "snippets", version="0.1.0")
    assert "s3-connector-dataset.py" not in written
    assert "S3ReaderConstructor.range_based(buffer_size=8192)" in written["s3-connector-random.py"]


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("option", ["s3-standard", "fsx-for-lustre"])
def test_one_rank_saves_where_the_plan_counts_one_writer(
    option: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The snippet is run as two ranks, on stand-ins for PyTorch and the connector: rank 0 alone writes."""
    found = plan(task="lora", preset="lora", model_parameters=7e9, checkpoint_mode=mode)
    written = files(placed(found, "s3-standard", option), FACTS, "snippets", version="0.1.0")
    [text] = [text for name, text in written.items() if name.endswith("one-rank-checkpoint.py")]
    ranks, objects = iter((1, 0)), {}

    class Object(io.BytesIO):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.where = name

        def close(self) -> None:
            objects[self.where] = self.getvalue()
            super().close()

    class Client:
        def __init__(self, **_: Any) -> None:
            self.writer = Object

    torch = ModuleType("torch")
    torch.save = lambda state, file: file.write(state)  # type: ignore[attr-defined]
    distributed = ModuleType("torch.distributed")
    distributed.is_initialized = lambda: True  # type: ignore[attr-defined]
    distributed.get_rank = lambda: next(ranks)  # type: ignore[attr-defined]
    torch.distributed = distributed  # type: ignore[attr-defined]
    connector = ModuleType("s3torchconnector")
    connector.S3Checkpoint = Client  # type: ignore[attr-defined]
    connector.S3ClientConfig = dict  # type: ignore[attr-defined]
    for module in (torch, distributed, connector):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    snippet: dict[str, Any] = {}
    exec(text.replace("/mnt/training", str(tmp_path)), snippet)  # noqa: S102 - the user would run it
    number = (0,) if option == "fsx-for-lustre" else ()
    assert snippet["save"](b"of rank 1", 7, *number) is None
    waited = snippet["save"](b"of rank 0", 7, *number)
    assert (waited is None) is (mode == "sync")
    if waited is not None:
        waited.result()
    files_written = {path.name: path.read_bytes() for path in tmp_path.rglob("*.pt")}
    assert list((files_written | objects).values()) == [b"of rank 0"]


def test_a_training_process_aims_at_its_part_of_the_network() -> None:
    # p5.48xlarge: AWS's own client aims at 3,200 Gbit/s towards S3; 8 processes, so 400 each.
    network = FACTS.instances["p5.48xlarge"].known("s3_network").value * 8 / 1e9
    text = files(PLANS["objects"], FACTS, "snippets", version="0.1.0")
    assert f"throughput_target_gbps={network / 8:.0f}, part_size=8388608" in text["s3-connector-checkpoint.py"]
    # Each of them has 8 loader workers, which read with a client of their own: 50 each.
    assert f"throughput_target_gbps={network / 64:.0f}, part_size=8388608" in text["s3-connector-dataset.py"]
    assert "thread_count=10," in text["s3-connector-checkpoint.py"]
    assert "return dcp.save(" in text["s3-connector-checkpoint.py"]
    asynchronous = placed(plan(checkpoint_mode="async"), "fsx-for-lustre", "fsx-for-lustre")
    assert "dcp.async_save(" in files(asynchronous, FACTS, "snippets", version="0.1.0")["dcp-checkpoint.py"]


def test_where_exports_fall_behind_one_save_in_so_many_goes_where_it_is_exported() -> None:
    # 70B with its optimizer: 980 GB, exported at 875 MB/s in 1,120 s; saved each 300 s, one in four can be.
    often = LANGUAGE_MODEL | {"interface": "posix", "checkpoint_mode": "async", "checkpoint_interval": 300}
    plan = recommend(Workload.from_mapping(often, FACTS), FACTS)
    assert plan.placements["checkpoints"].option == "fsx-for-lustre"
    snippet = files(plan, FACTS, "snippets", version="0.1.0")["dcp-checkpoint.py"]
    assert "EVERY = 4 " in snippet and "not-exported" in snippet
    # The last save of a job goes where it is exported, whatever its number: 3 is no multiple of 4.
    source = snippet[snippet.index("EVERY =") : snippet.index("def save")]
    where: dict[str, Any] = {}
    exec(source, where)  # noqa: S102 - our own snippet
    paths = [where["path"](9, 3), where["path"](9, 4), where["path"](9, 3, last=True)]
    assert [path.split("/")[3] for path in paths] == ["not-exported", "checkpoints", "checkpoints"]
    assert "not-exported" in files(plan, FACTS, "snippets", version="0.1.0")["fsx-release.sh"]
    rarely = recommend(Workload.from_mapping(often | {"checkpoint_interval": 1800}, FACTS), FACTS)
    assert "EVERY = 1 " in files(rarely, FACTS, "snippets", version="0.1.0")["dcp-checkpoint.py"]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match="Choose one of them"):
        files(BASE, FACTS, "pulumi", version="0.1.0")


def test_a_setting_that_no_template_writes_is_a_defect_not_a_silence() -> None:
    on_lustre = placed(BASE, "fsx-for-lustre", "fsx-for-lustre")
    placements = {
        role: replace(place, configuration={**place.configuration, "new": 1})
        for role, place in on_lustre.placements.items()
    }
    with pytest.raises(ValueError, match="no template writes"):
        files(replace(on_lustre, placements=placements), FACTS, "terraform", version="0.1.0")


JOB = 'task = "full-fine-tuning"\ninstances = 8\ninstance_type = "p5.48xlarge"\npreset = "image-classification"\n'


def test_the_shell_writes_or_prints_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job, out = tmp_path / "job.toml", tmp_path / "a" / "b"
    job.write_text(JOB, encoding="utf-8")
    assert main(["infrastructure", str(job), "--format", "terraform", "--output", str(out)]) == 0
    assert capsys.readouterr().err == f"Written: {out / 'main.tf'}\n"
    assert main(["infrastructure", str(job), "--format", "terraform"]) == 0
    assert capsys.readouterr().out == (out / "main.tf").read_text(encoding="utf-8")
    assert main(["infrastructure", str(job), "--format", "cloudformation", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"].keys() == {"gpufeed.yaml"}
    assert main(["infrastructure", str(job), "--format", "cdk"]) == 2
    assert main(["infrastructure", str(job), "--format", "terraform", "--output", str(job / "x")]) == 1
