-- Lists of administrators, in the order and by the filters the API has.
CREATE INDEX tokens_created ON tokens (created_at DESC, id);
CREATE INDEX audit_events_subject ON audit_events (subject, at);
CREATE INDEX audit_events_principal ON audit_events (principal_id, at);
