-- A record that is deleted is nobody's any more, whichever version deletes it.
CREATE TRIGGER owners_of_secrets AFTER DELETE ON secrets
BEGIN
  DELETE FROM record_owners WHERE kind = 'secret' AND record_id = OLD.name;
END;

CREATE TRIGGER owners_of_connectors AFTER DELETE ON connectors
BEGIN
  DELETE FROM record_owners WHERE kind = 'connector' AND record_id = OLD.id;
END;

CREATE TRIGGER owners_of_servers AFTER DELETE ON servers
BEGIN
  DELETE FROM record_owners WHERE kind = 'server' AND record_id = OLD.id;
END;

CREATE TRIGGER owners_of_principals AFTER DELETE ON principals
BEGIN
  DELETE FROM record_owners WHERE kind = 'principal' AND record_id = OLD.id;
END;

CREATE TRIGGER owners_of_access_rules AFTER DELETE ON access_rules
BEGIN
  DELETE FROM record_owners WHERE kind = 'rule' AND record_id = OLD.id;
END;

CREATE TRIGGER owners_of_toolsets AFTER DELETE ON toolsets
BEGIN
  DELETE FROM record_owners WHERE kind = 'toolset' AND record_id = OLD.id;
END;

CREATE TRIGGER owners_of_cache_rules AFTER DELETE ON cache_rules
BEGIN
  DELETE FROM record_owners WHERE kind = 'cache_rule' AND record_id = OLD.id;
END;

CREATE TRIGGER owners_of_ask_allowlist AFTER DELETE ON ask_allowlist
BEGIN
  DELETE FROM record_owners WHERE kind = 'ask_allowlist' AND record_id = OLD.id;
END;
