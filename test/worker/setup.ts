/** Gives every test file of the worker project a migrated D1. Storage is isolated per file by the test integration. */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
