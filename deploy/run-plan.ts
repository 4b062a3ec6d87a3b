/**
 * Does the steps of a plan, one after the other. Each can be done again: a run that broke off is followed by another, which finds what
 * this one made.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createSetupCode, SETUP_CODE_MS, toSetupHmac } from '../src/access/setup/setup-code.ts';
import type { Steps } from '../local/steps.ts';
import type { Cloudflare } from './cloudflare.ts';
import { StartError } from '../local/start-error.ts';
import { queryDatabase, type Found } from './find-deployment.ts';
import type { KeptFiles } from './kept-files.ts';
import type { DeployOptions } from './options.ts';
import type { Plan, StepName } from './plan.ts';
import type { Target } from './target.ts';
import type { Wrangler } from './wrangler.ts';
import type { DeploymentIds } from './wrangler-config.ts';

export interface RunPorts {
  api: Cloudflare;
  wrangler: Wrangler;
  files: KeptFiles;
  steps: Steps;
  account: string;
  /** Writes the merged configuration. @returns its path */
  writeConfig(ids: DeploymentIds): Promise<string>;
  /** The key ring that is given, or a new one. */
  makeKeys(): string;
  version: string;
}

const IdSchema = z.looseObject({ uuid: z.string().optional(), id: z.string().optional() });
const BookmarkSchema = z.looseObject({ bookmark: z.string() });
const NoteSchema = z.object({
  database: z.string(),
  bookmark: z.string(),
  /** When the bookmark was noted, in milliseconds since the epoch. */
  at: z.number().default(0),
  /** Migrations that the database had not seen at the bookmark. */
  pending: z.array(z.string()).default([]),
});
const HealthSchema = z.looseObject({ status: z.string(), version: z.string() });
const ROLL_BACK = 'docs/guides/roll-back.md';
/** Cloudflare accepts no older bookmark. */
const BOOKMARK_MS = 30 * 86_400_000;
const HEALTH_MS = 120_000;
const HEALTH_EVERY_MS = 1_000;
const HEALTH_TRY_MS = 10_000;

/**
 * @returns the address with the setup code, where one was made
 * @throws StartError where a step fails
 */
export async function runPlan(
  plan: Plan,
  found: Found,
  options: DeployOptions,
  target: Target,
  ports: RunPorts,
): Promise<string | undefined> {
  const { api, wrangler, files, steps, account } = ports;
  const textOf = (name: StepName) => plan.steps.find(step => step.name === name)?.text;
  const at = `/accounts/${account}`;

  const make = async (name: StepName, known: string | undefined, path: string, body: object) => {
    const text = textOf(name);
    if (known !== undefined || text === undefined) return known ?? '';
    return steps.run(text, async () => {
      const made = IdSchema.parse(await api.request(sentence(text), 'POST', at + path, body));
      return made.uuid ?? made.id ?? '';
    });
  };
  const { jurisdiction, location } = options;
  const database = await make('database', found.database?.id, '/d1/database', {
    name: target.database,
    ...(jurisdiction === undefined ? {} : { jurisdiction }),
    ...(location === undefined ? {} : { primary_location_hint: location }),
  });
  const namespace = await make('namespace', found.namespace?.id, '/storage/kv/namespaces', {
    title: target.namespace,
  });
  const ids = { account, database, namespace };
  const config = await ports.writeConfig(ids);
  // The bookmark of the last upgrade stays: whoever deploys again after it may have to go back.
  const former = NoteSchema.safeParse(await files.read('deployment.json')).data;
  const kept = former?.database === database ? former : undefined;
  const note = { ...kept, ...ids, origin: plan.origin, version: ports.version };
  await files.write('deployment.json', note);

  const step = async (name: StepName, work: (text: string) => Promise<unknown>) => {
    const text = textOf(name);
    if (text !== undefined) await steps.run(text, () => work(sentence(text)));
  };
  await step('bookmark', async what => {
    const now = Date.now();
    if (kept && now - kept.at < BOOKMARK_MS && isRest(plan.pending, kept.pending)) {
      const day = new Date(kept.at).toISOString().slice(0, 10);
      steps.say(
        `  ${kept.bookmark} of the run that broke off on ${day} (to go back: ${ROLL_BACK})`,
      );
      return;
    }
    const path = `${at}/d1/database/${database}/time_travel/bookmark`;
    const { bookmark } = BookmarkSchema.parse(await api.request(what, 'GET', path));
    await files.write('deployment.json', { ...note, bookmark, at: now, pending: plan.pending });
    steps.say(`  ${bookmark} (to go back: ${ROLL_BACK})`);
  });
  await step('migrations', what =>
    wrangler.run(what, ['d1', 'migrations', 'apply', 'DB', '--remote', '--config', config]),
  );
  await step('upload', what => {
    const args = ['deploy', '--config', config];
    if (!plan.needsKeys) return wrangler.run(what, args);
    return files.withSecrets({ PORTICO_KEYS: ports.makeKeys() }, file =>
      wrangler.run(what, [...args, '--secrets-file', file]),
    );
  });
  await step('health', () => waitForHealth(plan.origin, ports.version, target.worker));
  if (textOf('setup') === undefined) return undefined;
  const code = createSetupCode();
  const query = (sql: string, params: readonly (string | number)[]) =>
    queryDatabase(api, account, database, 'Making a setup code', sql, params);
  await step('setup', async () => {
    const hmac = await toSetupHmac(code);
    await query('DELETE FROM setup_codes', []);
    await query('INSERT INTO setup_codes (hmac, expires_at) VALUES (?, CAST(? AS INTEGER))', [
      hmac,
      Date.now() + SETUP_CODE_MS,
    ]);
  });
  return `${plan.origin}/setup#${code}`;
}

/** Whether a run that broke off applied some of its migrations, and these are left: its bookmark is from before all of them. */
const isRest = (pending: readonly string[], noted: readonly string[]): boolean =>
  pending.length < noted.length && pending.every(each => noted.includes(each));

/** @throws StartError where this version does not answer in time */
async function waitForHealth(origin: string, version: string, worker: string): Promise<void> {
  const until = Date.now() + HEALTH_MS;
  for (;;) {
    const { found, said } = await askHealth(origin);
    if (found === version) return;
    if (Date.now() > until) {
      throw new StartError(
        `The Worker is uploaded, but ${origin}/health ${said}. A new name takes some minutes to be known: run it again. If it stays so, a setting of the Worker or PORTICO_KEYS is not right: npx wrangler tail ${worker} shows which`,
      );
    }
    await sleep(HEALTH_EVERY_MS);
  }
}

/** The version that answers and has its storage, if one does, and what was seen in words. */
async function askHealth(origin: string): Promise<{ found?: string; said: string }> {
  try {
    const signal = AbortSignal.timeout(HEALTH_TRY_MS);
    const response = await fetch(`${origin}/health`, { signal, redirect: 'manual' });
    const health = HealthSchema.safeParse(await response.json().catch(() => undefined));
    if (health.data?.status !== 'ok') return { said: `answers ${response.status}` };
    return { found: health.data.version, said: `is version ${health.data.version} still` };
  } catch {
    return { said: 'does not answer' };
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
