/**
 * Gives every test file of the worker project an empty storage, objects that are new, and a migrated D1: the files share a
 * worker, which reads the modules once.
 */
import { applyD1Migrations, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

await reset();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
