/**
 * A team with one gateway: two servers of a hundred tools, six people with different rights, and a plain definition of who may use what,
 * independent of the gateway's code.
 */
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from './gateway.ts';
import type { Gateway } from './gateway.ts';
import { settleNews } from './sse-reader.ts';

export const SERVERS = ['alpha', 'beta'] as const;
export type ServerName = (typeof SERVERS)[number];
const TOOLS = 100;
const HALF = TOOLS / 2;

/** The servers' own names of their tools. */
export const TOOL_NAMES = ['read', 'write'].flatMap(verb =>
  Array.from({ length: HALF }, (_, index) => `${verb}_${String(index).padStart(2, '0')}`),
);

export interface Person {
  name: string;
  token: string;
  /** Whether the person may use a tool. */
  mayUse(server: ServerName, tool: string): boolean;
  /** Whether the person sees a server's prompts and resources. */
  seesRest(server: ServerName): boolean;
}

export interface Team {
  gateway: Gateway;
  upstreams: Record<ServerName, Upstream>;
  serverIds: Record<ServerName, string>;
  people: Person[];
  stop(): Promise<void>;
}

/** The tool that has another name in the toolset. */
export const RENAMED = { server: 'alpha', tool: 'read_00', name: 'first' } as const;

const isRead = (tool: string) => tool.startsWith('read_');

/** Starts everything and grants the rights. */
export async function startTeam(env: Record<string, string> = {}): Promise<Team> {
  const [alpha, beta, gateway] = await Promise.all([
    startFixture('team', { tools: TOOLS }),
    startFixture('team', { tools: TOOLS }),
    startGateway({
      env: { PORTICO_DISCOVERY_INTERVAL_MS: '500', PORTICO_PAGE_SIZE: '37', ...env },
    }),
  ]);
  const upstreams = { alpha, beta };
  const serverIds = { alpha: '', beta: '' };
  const register = async (name: ServerName) => {
    const more = { tool_approval: 'trust' };
    serverIds[name] = (await gateway.register(name, `${upstreams[name].origin}/mcp`, more)).id;
  };
  await settleNews(
    { url: `${gateway.origin}/mcp`, token: gateway.adminToken },
    SERVERS.map(name => () => register(name)),
  );
  const people = await handOut(gateway);
  return {
    gateway,
    upstreams,
    serverIds,
    people,
    async stop() {
      await gateway.stop();
      await Promise.all([alpha.stop(), beta.stop()]);
    },
  };
}

/** Sends a POST that must be answered with 201. */
export async function create(
  gateway: Gateway,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const { status, json, text } = await gateway.api('POST', path, body);
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
  return json;
}

async function handOut(gateway: Gateway): Promise<Person[]> {
  const principal = async (name: string, groups: string[]) =>
    String((await create(gateway, '/api/v1/principals', { name, groups }))['id']);
  const token = async (body: Record<string, unknown>) => (await gateway.createToken(body)).token;
  const rule = (body: object) => create(gateway, '/api/v1/access/rules', body);
  const toolset = {
    name: 'triage',
    include: ['*.read_0*'],
    exclude: ['beta.read_09'],
    overrides: [{ ...RENAMED, description: 'Comes first' }],
  };
  await create(gateway, '/api/v1/toolsets', toolset);
  const interns = { kind: 'group', name: 'interns' };
  await rule({ effect: 'deny', subject: interns, server: 'beta', tool: 'write_*' });
  const readers = { kind: 'group', name: 'readers' };
  await rule({ effect: 'deny', subject: readers });
  const intern = await principal('intern', ['interns']);
  const reader = await principal('reader', ['readers']);
  const own = { kind: 'principal', id: reader };
  await rule({ effect: 'allow', subject: own, read_only: true });
  return [
    {
      name: 'anybody',
      token: await token({ name: 'anybody' }),
      mayUse: () => true,
      seesRest: () => true,
    },
    {
      name: 'one server',
      token: await token({ name: 'one server', servers: ['alpha'] }),
      mayUse: server => server === 'alpha',
      seesRest: server => server === 'alpha',
    },
    {
      name: 'some tools',
      token: await token({ name: 'some tools', tools: ['alpha.read_*', 'beta.write_00'] }),
      mayUse: (server, tool) => (server === 'alpha' ? isRead(tool) : tool === 'write_00'),
      seesRest: () => false,
    },
    {
      name: 'intern',
      token: await token({ name: 'intern', principal: intern }),
      mayUse: (server, tool) => server === 'alpha' || isRead(tool),
      seesRest: () => true,
    },
    {
      name: 'reader',
      token: await token({ name: 'reader', principal: reader }),
      mayUse: (_server, tool) => isRead(tool),
      seesRest: () => false,
    },
    {
      name: 'triage',
      token: await token({ name: 'triage', toolsets: ['triage'] }),
      mayUse: (server, tool) =>
        tool.startsWith('read_0') && !(server === 'beta' && tool === 'read_09'),
      seesRest: () => false,
    },
  ];
}
