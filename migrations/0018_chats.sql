-- Chats: conversations with a language model that calls tools, each of one principal. What is in one is sealed.
CREATE TABLE chats (
  id TEXT PRIMARY KEY,
  principal_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'waiting', 'idle')),
  revision INTEGER NOT NULL,
  claim TEXT NOT NULL,
  leased_until INTEGER NOT NULL,
  stop_requested INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX chats_of_principal ON chats (principal_id, updated_at);
CREATE INDEX chats_expires ON chats (expires_at);

CREATE TRIGGER chats_of_deleted AFTER DELETE ON principals
BEGIN
  DELETE FROM chats WHERE principal_id = OLD.id;
END;
