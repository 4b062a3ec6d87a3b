/** A configuration file with as many records as a team has, and some of every kind. */

/** 20 servers, 10 principals, 30 rules, 5 toolsets, and some of everything else. */
export function wholeFile(owner: string) {
  const many = <T>(count: number, name: string, make: (at: number) => T) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}-${at}`, make(at)]));
  const [shared, fromFile] = [`${owner.toUpperCase()}_SHARED`, `${owner.toUpperCase()}_FROM_FILE`];
  const origin = (at: number) => `https://${owner}-${at}.example.com`;
  return {
    owner,
    secrets: {
      [shared]: { value: '${env:SHARED}', origins: [origin(0), origin(1)] },
      [fromFile]: { value: '${file:from-file.txt}', origins: [origin(2)] },
    },
    connectors: { [`${owner}-box`]: {} },
    servers: {
      ...many(19, `${owner}-server`, at => ({
        transport_type: 'HTTP',
        connection_config: {
          url: `${origin(at)}/mcp`,
          ...(at < 2 ? { headers: { Authorization: `Bearer \${${shared}}` } } : {}),
          ...(at === 2 ? { auth: { type: 'bearer', token: `\${${fromFile}}` } } : {}),
        },
        auto_connect: false,
      })),
      [`${owner}-files`]: {
        transport_type: 'STDIO',
        connection_config: { connector: `${owner}-box`, server: 'files' },
      },
    },
    principals: many(10, `${owner}-person`, at => ({ groups: [`group-${at % 3}`] })),
    rules: many(30, 'rule', at => ({
      effect: at % 2 === 0 ? 'allow' : 'deny',
      subject:
        at % 3 === 0
          ? { kind: 'principal', name: `${owner}-person-${at % 10}` }
          : { kind: 'group', name: `group-${at % 3}` },
      server: `${owner}-server-${at % 19}`,
      tool: `tool_${at}_*`,
    })),
    budgets: {
      first: { subject: { kind: 'principal', name: `${owner}-person-0` }, calls_per_day: 500 },
      all: { subject: { kind: 'group', name: 'group-1' }, calls_per_day: 2_000 },
    },
    toolsets: many(5, `${owner}-set`, at => ({
      include: [`${owner}-server-${at}.get_*`],
      members: { principals: [`${owner}-person-${at}`], groups: ['group-1'] },
    })),
    cache_rules: many(2, 'cache', at => ({
      server: `${owner}-server-${at}`,
      tool: 'get_*',
      ttl_seconds: 60,
    })),
    ask_allowlist: { ask: { server: `${owner}-server-0`, tool: 'search_*' } },
  };
}
/** How many records that is. */
export const ALL = 2 + 1 + 20 + 10 + 30 + 2 + 5 + 2 + 1;
