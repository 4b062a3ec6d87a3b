/**
 * `npm run conformance`: the official suite of the protocol. Owns the order of a run and its cleanup: no process and no data stays behind,
 * whatever happens. See `options.ts` for the command line.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AUTHORIZATION, testAuthorization } from './authorization.ts';
import { endAll, startFixture } from './children.ts';
import { HELP, PARTS, parseOptions } from './options.ts';
import type { Options } from './options.ts';
import { CLIENT_CREDENTIALS, readRequirements, REVISIONS, scenariosOf } from './requirements.ts';
import type { Revision, Side } from './requirements.ts';
import { addUpstream, startGateway, UPSTREAMS } from './stand.ts';
import type { Doors, Gateway, UpstreamName } from './stand.ts';
import { testClient, testServer } from './suite.ts';
import type { Outcome } from './suite.ts';
import { summarize, toSummaryText } from './summary.ts';
import { toSectionText } from './table.ts';
import type { Column, Section } from './table.ts';

const results = fileURLToPath(new URL('results', import.meta.url));
const report = fileURLToPath(new URL('../../docs/conformance.md', import.meta.url));
const clientFile = fileURLToPath(new URL('client-driver.ts', import.meta.url));

/** How many scenarios of the client side run at once. */
const AT_ONCE = 4;
/** A whole run takes ten minutes. At this timeout all children are ended and the run fails. */
const RUN_TIMEOUT_MS = 2_400_000;

/** The fixtures alone: SDK 1 speaks the legacy era only. */
const DIRECT = {
  '2025-11-25': [
    { fixture: 'conformance-legacy', title: 'fixture, SDK 1' },
    { fixture: 'conformance-modern', title: 'fixture, SDK 2' },
  ],
  '2026-07-28': [{ fixture: 'conformance-modern', title: 'fixture, SDK 2' }],
} satisfies Record<Revision, { fixture: string; title: string }[]>;

const LEGACY_ONLY: ReadonlySet<UpstreamName> = new Set(['legacy', 'sse']);

/** What the user cannot do without the gateway: every scenario about authorization. */
const isAboutAccess = (scenario: string) => scenario.startsWith('auth/');
const GATEWAY_SIGNS_IN = 'the gateway signs in, its user does not';

/** A server request of the legacy era has no key, so no gateway can find the one that the scenario wants. */
const WITHOUT_KEYS = new Map([
  [
    'input-required-result-basic-elicitation',
    'wants the key "user_name", which a question of a legacy server does not have',
  ],
]);

const DOCUMENT_HEAD = `# Conformance

Written by \`npm run conformance\` (see CONTRIBUTING.md): the official suite, @modelcontextprotocol/conformance, against our
fixtures alone, through \`/mcp/servers/{server}\`, and on \`/mcp\` with qualified names, which a relay makes of the suite's. The gateway has its default settings, but for the time of a call, which is eight seconds, and the address of its client metadata document, which is the one that the suite compares with. A column "→ legacy" is the gateway in front of a server with sessions on
SDK 1, "→ sse" the same over HTTP+SSE, "→ modern" a server on SDK 2 that speaks 2026-07-28 only, "→ both" one that speaks that and, with sessions, the earlier revisions, "→ both-pushed" the same where some tools
can ask in the legacy era only and the modern one has no subscriptions, "→ default" one of both eras as the handler of SDK 2 makes it without options, whose legacy era keeps no sessions (directly it passes 25 of the 30 of 2025-11-25, since it can ask nobody there).
The package of the suite does not ship the suite's own example servers; these have their shape. On the client side "our user
alone" is the user of the run at the suite's own server, "gateway" the same user with the gateway between. Where that is about signing in, the server has accounts of its users: the user follows the link to connect one, in a browser that is
signed in at the gateway, and calls again. The authorization server is visited by a program with a metadata document and a person who pastes a token.

`;

function makeFolder(...parts: string[]): string {
  const folder = join(results, ...parts.map(part => part.replaceAll('/', '-')));
  mkdirSync(folder, { recursive: true });
  return folder;
}

const say = (text: string) => process.stdout.write(`${text}\n`);

async function testDirectly(revision: Revision, only: string | undefined): Promise<Column[]> {
  const columns: Column[] = [];
  for (const { fixture, title } of DIRECT[revision]) {
    const url = `http://127.0.0.1:${await startFixture(fixture)}/mcp`;
    const folder = makeFolder(`direct-${fixture}-${revision}`);
    columns.push({ title, outcomes: await testServer(url, revision, only, folder) });
  }
  return columns;
}

/** The sections of the server side, one list per endpoint. */
type ServerSections = Record<keyof Doors, Section[]>;

/** Adds one column per upstream to the sections of each endpoint. */
async function testThroughGateway(gateway: Gateway, sections: ServerSections): Promise<void> {
  for (const upstream of UPSTREAMS) {
    const doors = await addUpstream(gateway, upstream);
    try {
      for (const door of ['own', 'all'] as const) {
        for (const { requirements, columns, only } of sections[door]) {
          const { revision } = requirements;
          const folder = makeFolder(`server-${door}-${upstream}-${revision}`);
          const outcomes = await testServer(doors[door].url, revision, only, folder);
          const lacksKeys = LEGACY_ONLY.has(upstream) && revision === '2026-07-28';
          const cannot = lacksKeys ? { cannot: WITHOUT_KEYS } : {};
          columns.push({ title: `→ ${upstream}`, outcomes, ...cannot });
        }
      }
    } finally {
      doors.own.close();
      doors.all.close();
    }
  }
}

/** Adds a column of the client side. Runs a few scenarios at a time, since each has its own server and client. */
async function testAsClient(
  title: string,
  gateway: Gateway | undefined,
  { requirements, columns, only }: Section,
): Promise<void> {
  const { revision } = requirements;
  const outcomes = new Map<string, Outcome>();
  const all = scenariosOf(requirements, 'client', only);
  const aboutAccess = all.filter(isAboutAccess);
  const names = gateway ? [...all] : all.filter(name => !isAboutAccess(name));
  const testNext = async (): Promise<void> => {
    const scenario = names.shift();
    if (scenario === undefined) return;
    const folder = makeFolder(`client-${gateway ? 'gateway' : 'direct'}-${revision}`, scenario);
    const env: Record<string, string> = gateway
      ? {
          PORTICO_CONFORMANCE_ORIGIN: gateway.origin,
          PORTICO_CONFORMANCE_TOKEN: gateway.adminToken,
        }
      : {};
    outcomes.set(scenario, await testClient(clientFile, env, revision, scenario, folder));
    return testNext();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, testNext));
  columns.push({
    title,
    outcomes,
    ...(gateway
      ? { demands: [CLIENT_CREDENTIALS] }
      : { cannot: new Map(aboutAccess.map(name => [name, GATEWAY_SIGNS_IN])) }),
  });
}

/** The sections of a side, without columns. */
function createSections(side: Side, only: string | undefined): Section[] {
  return REVISIONS.map(readRequirements)
    .filter(requirements => scenariosOf(requirements, side, only).length > 0)
    .map(requirements => ({ side, requirements, columns: [], only }));
}

/** The section of the authorization server, without columns; undefined if `only` names another scenario. */
function createAuthorizationSection(only: string | undefined): Section | undefined {
  const where = 'its authorization server';
  if (scenariosOf(AUTHORIZATION, 'server', only).length === 0) return undefined;
  return {
    side: 'server',
    where,
    requirements: AUTHORIZATION,
    columns: [],
    only,
  };
}

async function runParts({ parts, scenario }: Options): Promise<Section[]> {
  const servers = createSections('server', scenario);
  const onAll = createSections('server', scenario).map(section => ({
    ...section,
    where: 'on `/mcp`, with qualified names',
  }));
  const clients = createSections('client', scenario);
  const ofAuthorization = createAuthorizationSection(scenario);
  if (parts.includes('direct')) {
    for (const { requirements, columns } of servers) {
      columns.push(...(await testDirectly(requirements.revision, scenario)));
    }
    for (const section of clients) await testAsClient('our user alone', undefined, section);
  }
  if (parts.some(part => part !== 'direct')) {
    const gateway = await startGateway();
    try {
      if (parts.includes('server')) await testThroughGateway(gateway, { own: servers, all: onAll });
      if (parts.includes('client')) {
        for (const section of clients) await testAsClient('gateway', gateway, section);
      }
      if (parts.includes('authorization') && ofAuthorization) {
        const outcomes = await testAuthorization(gateway, makeFolder('authorization'));
        ofAuthorization.columns.push({ title: 'gateway', outcomes });
      }
    } finally {
      await gateway.close();
    }
  }
  const all = [...servers, ...onAll, ...clients, ...(ofAuthorization ? [ofAuthorization] : [])];
  return all.filter(({ columns }) => columns.length > 0);
}

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    say(HELP);
    return 0;
  }
  rmSync(results, { recursive: true, force: true });
  const sections = await runParts(options);
  if (sections.length === 0) throw new Error(`No revision names a scenario ${options.scenario}`);
  const text = sections.map(toSectionText).join('\n');
  say(text);
  writeFileSync(join(makeFolder(), 'latest.md'), text);
  const isWhole = options.parts.length === PARTS.length && options.scenario === undefined;
  if (isWhole) writeFileSync(report, DOCUMENT_HEAD + text);
  const total = summarize(sections);
  say(toSummaryText(total));
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

setTimeout(() => void endAll(), RUN_TIMEOUT_MS).unref();
// A signal ends the children, so everything that waits for one ends too; the run then unwinds as after an error.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void endAll());
try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
} finally {
  await endAll();
}
