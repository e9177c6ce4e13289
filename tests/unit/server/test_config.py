from graph.server import config
from graph.server.home import Ports
from graph.server.options import ServerOptions

PORTS = Ports(bolt=7001, http=7002)


def test_every_address_is_on_the_loopback_interface(options: ServerOptions) -> None:
    settings = config.settings(options, PORTS)
    addresses = {value.split(":")[0] for name, value in settings.items() if "address" in name}

    assert addresses == {"127.0.0.1"}


def test_nothing_calls_home(options: ServerOptions) -> None:
    settings = config.settings(options, PORTS)
    off = (
        "dbms.usage_report.enabled",
        "dbms.fleet_manager.enabled",
        "server.fleet_discovery.enabled",
        "client.allow_telemetry",
    )

    assert {settings[name] for name in off} == {"false"}


def test_questions_are_not_logged(options: ServerOptions) -> None:
    assert config.settings(options, PORTS)["db.logs.query.enabled"] == "OFF"


def test_the_file_has_one_setting_a_line() -> None:
    assert config.render({"a.b": "1", "c": "x=y"}).splitlines()[1:] == ["a.b=1", "c=x=y"]
