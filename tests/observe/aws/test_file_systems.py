"""FSx for Lustre as AWS describes it: answers in its own shape, checked against botocore's model of the service."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ProfileNotFound,
    SSLError,
)
from botocore.stub import Stubber

from gpufeed.demo import Demo
from gpufeed.facts.errors import GpufeedError, InputError
from gpufeed.model.file_system import FileSystem, Link
from gpufeed.observe.aws import client as door
from gpufeed.observe.aws.file_systems import QUOTAS, Found, file_system

ID = "fs-0123456789abcdef0"
OTHER = "fs-0fedcba9876543210"
CREATED = datetime(2026, 11, 2, 8, 30, tzinfo=UTC)

PERSISTENT_2: dict[str, Any] = {
    "OwnerId": "111122223333",
    "CreationTime": CREATED,
    "FileSystemId": ID,
    "FileSystemType": "LUSTRE",
    "Lifecycle": "AVAILABLE",
    "StorageCapacity": 9600,
    "StorageType": "SSD",
    "VpcId": "vpc-0123456789abcdef0",
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "NetworkInterfaceIds": ["eni-0123456789abcdef0", "eni-0123456789abcdef1"],
    "DNSName": f"{ID}.fsx.us-east-1.amazonaws.com",
    "KmsKeyId": "arn:aws:kms:us-east-1:111122223333:key/00000000-0000-0000-0000-000000000000",
    "ResourceARN": f"arn:aws:fsx:us-east-1:111122223333:file-system/{ID}",
    "Tags": [{"Key": "Name", "Value": "training"}],
    "LustreConfiguration": {
        "WeeklyMaintenanceStartTime": "7:03:00",
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 500,
        "MountName": "abcdefgh",
        "AutomaticBackupRetentionDays": 0,
        "CopyTagsToBackups": False,
        "DataCompressionType": "LZ4",
        "LogConfiguration": {"Level": "DISABLED"},
        "RootSquashConfiguration": {},
        "MetadataConfiguration": {"Iops": 6000, "Mode": "AUTOMATIC"},
        "EfaEnabled": True,
    },
    "FileSystemTypeVersion": "2.15",
}
SCRATCH: dict[str, Any] = {
    "FileSystemId": OTHER,
    "FileSystemType": "LUSTRE",
    "Lifecycle": "UPDATING",
    "StorageCapacity": 2400,
    "StorageType": "SSD",
    "LustreConfiguration": {
        "DeploymentType": "SCRATCH_2",
        "MountName": "hgfedcba",
        "DataRepositoryConfiguration": {
            "Lifecycle": "AVAILABLE",
            "ImportPath": "s3://your-bucket/old",
            "ExportPath": "s3://your-bucket/FSxLustre20261102T083000Z",
            "ImportedFileChunkSize": 1024,
            "AutoImportPolicy": "NEW_CHANGED",
        },
        "DataCompressionType": "NONE",
    },
    "FileSystemTypeVersion": "2.12",
}
ASSOCIATION: dict[str, Any] = {
    "AssociationId": "dra-0123456789abcdef0",
    "ResourceARN": f"arn:aws:fsx:us-east-1:111122223333:association/{ID}/dra-0123456789abcdef0",
    "FileSystemId": ID,
    "Lifecycle": "AVAILABLE",
    "FileSystemPath": "/data",
    "DataRepositoryPath": "s3://your-bucket/data/",
    "BatchImportMetaDataOnCreate": True,
    "ImportedFileChunkSize": 1024,
    "S3": {
        "AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
        "AutoExportPolicy": {"Events": ["NEW"]},
    },
    "CreationTime": CREATED,
}
QUOTA: dict[str, Any] = {
    "ServiceCode": "fsx",
    "ServiceName": "Amazon FSx",
    "QuotaArn": "arn:aws:servicequotas:us-east-1:111122223333:fsx/L-8F1B9C74",
    "QuotaCode": "L-8F1B9C74",
    "QuotaName": "Lustre Persistent_2 storage capacity",
    "Value": 100800.0,
    "Unit": "None",
    "Adjustable": True,
    "GlobalQuota": False,
    "QuotaAppliedAtLevel": "ACCOUNT",
}


class Aws:
    """The two clients, with the answers they give in order."""

    def __init__(self) -> None:
        keys = {"aws_access_key_id": "example", "aws_secret_access_key": "example"}
        self.clients = {name: boto3.client(name, region_name="us-east-1", **keys) for name in ("fsx", "service-quotas")}
        self.stubs = {name: Stubber(client) for name, client in self.clients.items()}
        for stub in self.stubs.values():
            stub.activate()

    def fsx(self, operation: str, answer: dict[str, Any], request: dict[str, Any] | None = None) -> None:
        self.stubs["fsx"].add_response(operation, answer, request or {})

    def quotas(self, answer: dict[str, Any], request: dict[str, Any] | None = None) -> None:
        self.stubs["service-quotas"].add_response("list_service_quotas", answer, request or {"ServiceCode": "fsx"})

    def refuses(self, service: str, operation: str, code: str) -> None:
        self.stubs[service].add_client_error(operation, code, f"User arn:aws:iam::111122223333:user/ann: {code}", 400)

    def found(self, id_: str = ID) -> Found:
        return file_system(id_, fsx=self.clients["fsx"], quotas=self.clients["service-quotas"])


@pytest.fixture
def aws() -> Iterator[Aws]:
    stubbed = Aws()
    yield stubbed
    for stub in stubbed.stubs.values():
        stub.assert_no_pending_responses()


OF_ID = {"Filters": [{"Name": "file-system-id", "Values": [ID]}]}


def test_a_file_system_is_read_with_its_links_and_its_quota(aws: Aws) -> None:
    aws.fsx("describe_file_systems", {"FileSystems": [PERSISTENT_2, SCRATCH]})
    aws.fsx("describe_data_repository_associations", {"Associations": [ASSOCIATION]}, OF_ID)
    aws.quotas({"Quotas": [{"QuotaName": "Lustre Persistent_2 file systems", "Value": 100.0}, QUOTA]})
    found = aws.found()
    assert found.warnings == ()
    assert found.file_system == FileSystem(
        id=ID,
        region="us-east-1",
        lifecycle="AVAILABLE",
        deployment_type="PERSISTENT_2",
        storage_type="SSD",
        capacity_gib=9600.0,
        mb_per_s_per_tib=500.0,
        throughput_mb_per_s=None,
        metadata_mode="AUTOMATIC",
        metadata_iops=6000.0,
        efa=True,
        read_cache=None,
        lustre_version="2.15",
        links=(Link("/data", "s3://your-bucket/data/", "AVAILABLE", ("NEW", "CHANGED", "DELETED"), ("NEW",)),),
        quota_gib=100_800.0,
        used_gib=9600.0,
    )


def test_all_pages_are_read(aws: Aws) -> None:
    aws.fsx("describe_file_systems", {"FileSystems": [SCRATCH], "NextToken": "page-2"})
    aws.fsx("describe_file_systems", {"FileSystems": [PERSISTENT_2]}, {"NextToken": "page-2"})
    aws.fsx("describe_data_repository_associations", {"Associations": [], "NextToken": "more"}, OF_ID)
    aws.fsx("describe_data_repository_associations", {"Associations": [ASSOCIATION]}, OF_ID | {"NextToken": "more"})
    aws.quotas({"Quotas": [], "NextToken": "next"})
    aws.quotas({"Quotas": [QUOTA]}, {"ServiceCode": "fsx", "NextToken": "next"})
    found = aws.found().file_system
    assert (len(found.links), found.quota_gib) == (1, 100_800.0)


def test_a_token_that_comes_again_does_not_run_for_ever(aws: Aws) -> None:
    aws.fsx("describe_file_systems", {"FileSystems": [PERSISTENT_2], "NextToken": "same"})
    aws.fsx("describe_file_systems", {"FileSystems": [], "NextToken": "same"}, {"NextToken": "same"})
    aws.fsx("describe_data_repository_associations", {"Associations": []}, OF_ID)
    aws.quotas({"Quotas": []})
    assert aws.found().file_system.quota_gib is None


def test_the_older_way_of_linking_counts_as_a_link(aws: Aws) -> None:
    aws.fsx("describe_file_systems", {"FileSystems": [SCRATCH]})
    of_other = {"Filters": [{"Name": "file-system-id", "Values": [OTHER]}]}
    aws.fsx("describe_data_repository_associations", {"Associations": []}, of_other)
    aws.quotas({"Quotas": [QUOTA | {"QuotaName": QUOTAS["SCRATCH_2"], "Value": 50_400.0}]})
    found = aws.found(OTHER).file_system
    assert found.links == (Link("/", "s3://your-bucket/old", "AVAILABLE", ("NEW", "CHANGED")),)
    assert (found.mb_per_s_per_tib, found.metadata_mode, found.efa, found.quota_gib) == (None, None, False, 50_400.0)


def test_intelligent_tiering_has_throughput_and_no_capacity(aws: Aws) -> None:
    settings = {
        "DeploymentType": "PERSISTENT_2",
        "MountName": "abcdefgh",
        "MetadataConfiguration": {"Iops": 6000, "Mode": "USER_PROVISIONED"},
        "EfaEnabled": False,
        "ThroughputCapacity": 8000,
        "DataReadCacheConfiguration": {"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"},
    }
    described = PERSISTENT_2 | {"StorageType": "INTELLIGENT_TIERING", "LustreConfiguration": settings}
    del described["StorageCapacity"]
    aws.fsx("describe_file_systems", {"FileSystems": [described]})
    aws.fsx("describe_data_repository_associations", {"Associations": []}, OF_ID)
    aws.quotas({"Quotas": []})
    found = aws.found().file_system
    assert (found.storage_type, found.capacity_gib, found.throughput_mb_per_s) == ("INTELLIGENT_TIERING", None, 8000.0)


def test_a_quota_that_may_not_be_read_is_a_warning(aws: Aws) -> None:
    aws.fsx("describe_file_systems", {"FileSystems": [PERSISTENT_2]})
    aws.fsx("describe_data_repository_associations", {"Associations": []}, OF_ID)
    aws.refuses("service-quotas", "list_service_quotas", "AccessDeniedException")
    found = aws.found()
    assert (found.file_system.quota_gib, found.file_system.used_gib) == (None, None)
    [warning] = found.warnings
    assert "servicequotas:ListServiceQuotas" in str(warning) and "111122223333" not in str(warning)


# ---- what can go wrong: one sentence with the next step, no account, no secret ---------------------------------------


def refusal(aws: Aws, id_: str = ID) -> GpufeedError:
    with pytest.raises(GpufeedError) as caught:
        aws.found(id_)
    assert "111122223333" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    "id_", ["", "fs-1", "0123456789abcdef0", "fs-0123456789ABCDEF0", "fs-0123456789abcdef0 ", "fsvol-1"]
)
def test_what_is_no_id_is_not_asked_for(aws: Aws, id_: str) -> None:
    error = refusal(aws, id_)
    assert (error.message_id, error.exit_code) == ("aws.not-a-file-system-id", 2)


def test_an_id_that_is_not_there_names_those_that_are(aws: Aws) -> None:
    aws.fsx("describe_file_systems", {"FileSystems": [SCRATCH]})
    error = refusal(aws)
    assert (error.message_id, error.exit_code) == ("aws.no-such-file-system", 1)
    assert OTHER in str(error) and "us-east-1" in str(error)


def test_a_file_system_of_another_kind_is_named(aws: Aws) -> None:
    aws.fsx("describe_file_systems", {"FileSystems": [{"FileSystemId": ID, "FileSystemType": "ONTAP"}]})
    assert str(refusal(aws)) == f"{ID} is a file system of type ONTAP. Give the id of one of FSx for Lustre."


@pytest.mark.parametrize(
    ("code", "message_id"),
    [
        ("AccessDeniedException", "aws.denied"),
        ("AccessDenied", "aws.denied"),
        ("UnrecognizedClientException", "aws.unknown-key"),
        ("InvalidClientTokenId", "aws.unknown-key"),
        ("ExpiredTokenException", "aws.expired"),
        ("InvalidSignatureException", "aws.wrong-secret"),
        ("SignatureDoesNotMatch", "aws.wrong-secret"),
        ("RequestTimeTooSkewed", "aws.clock"),
        ("ThrottlingException", "aws.throttled"),
        ("InternalServerError", "aws.server"),
        ("BadRequest", "aws.other"),
    ],
)
def test_what_aws_refuses_is_one_sentence(aws: Aws, code: str, message_id: str) -> None:
    aws.refuses("fsx", "describe_file_systems", code)
    error = refusal(aws)
    assert (error.message_id, error.exit_code) == (message_id, 1)


def test_a_refused_second_call_names_its_own_permission(aws: Aws) -> None:
    aws.fsx("describe_file_systems", {"FileSystems": [PERSISTENT_2]})
    aws.refuses("fsx", "describe_data_repository_associations", "AccessDeniedException")
    assert "fsx:DescribeDataRepositoryAssociations" in str(refusal(aws))


@pytest.mark.parametrize(
    ("error", "region", "message_id", "exit_code"),
    [
        (NoCredentialsError(), "us-east-1", "aws.no-credentials", 1),
        (NoRegionError(), None, "aws.no-region", 2),
        (ProfileNotFound(profile="ann"), "us-east-1", "aws.profile", 2),
        (
            EndpointConnectionError(endpoint_url="https://fsx.us-east-1.amazonaws.com"),
            "us-east-1",
            "aws.unreachable",
            1,
        ),
        (
            ConnectTimeoutError(endpoint_url="https://fsx.cn-north-1.amazonaws.com.cn"),
            "cn-north-1",
            "aws.unreachable",
            1,
        ),
        (EndpointConnectionError(endpoint_url="https://fsx.us-esat-1.amazonaws.com"), "us-esat-1", "aws.bad-region", 2),
        (SSLError(endpoint_url="https://x", error="certificate verify failed"), "us-east-1", "aws.certificate", 1),
        (ValueError("nobody foresaw this"), "us-east-1", "aws.other", 1),
    ],
)
def test_what_never_reaches_aws_is_one_sentence(
    error: Exception, region: str | None, message_id: str, exit_code: int
) -> None:
    said = door.refusal(error, "fsx", region, "fsx:DescribeFileSystems")
    assert (said.message_id, said.exit_code) == (message_id, exit_code)
    assert str(said)


def test_a_region_that_does_not_exist_names_the_nearest() -> None:
    error = EndpointConnectionError(endpoint_url="https://…")
    assert "Nearest: us-east-1." in str(door.refusal(error, "fsx", "us-eastt-1", ""))


def test_the_settings_of_the_sample_server_are_not_taken_for_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in Demo("http://127.0.0.1:18330").environment().items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError) as refused:
        door.connect("pricing", "us-east-1")
    assert str(refused.value) == (
        "This shell has the settings of the sample server (gpufeed demo), and pricing is asked of AWS. Unset "
        "AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY here, or use another shell."
    )


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_FSX"])
def test_what_another_server_refuses_is_not_said_of_aws(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "http://ann:hunter2@localhost:4566/x")
    error = EndpointConnectionError(endpoint_url="http://localhost:4566")
    assert str(door.refusal(error, "fsx", "us-east-1", "fsx:DescribeFileSystems")) == (
        f"fsx was asked at localhost:4566, where {variable} points, and not at AWS, and gave no answer that can be "
        f"used (EndpointConnectionError). Unset {variable} to ask AWS."
    )
    monkeypatch.setenv(variable, "https://vpce-1.fsx.us-east-1.vpce.amazonaws.com")
    assert "could not be reached" in str(door.refusal(error, "fsx", "us-east-1", "fsx:DescribeFileSystems"))


def test_a_client_without_a_region_says_to_give_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(GpufeedError) as caught:
        door.connect("fsx", None)
    assert caught.value.message_id == "aws.no-region"
