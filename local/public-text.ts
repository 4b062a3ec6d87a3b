/** The terminal text when a gateway for a team runs. It often ends up in a log, so it shows no token. Pure text. */
import type { PublicOptions } from './public-options.ts';
import type { Steps } from './steps.ts';

type Shown = Pick<PublicOptions, 'host' | 'origin' | 'isProxyUnnamed'> & {
  port: number;
  /** File that holds the admin token. */
  secretsFile: string;
  steps: Pick<Steps, 'style'>;
};

/** Returns the closing text of a start. */
export function toPublicText({
  host,
  origin,
  isProxyUnnamed,
  port,
  secretsFile,
  steps,
}: Shown): string {
  const { style } = steps;
  const where = host.includes(':') ? `[${host}]` : host;
  const unnamed = [
    '',
    `${style('yellow', '!')} No proxy is named: all clients behind one count as one address.`,
    '  Name it with --trusted-proxies.',
  ];
  return [
    '',
    `${style('bold', 'Portico is ready')}  ${style('cyan', `${origin}/mcp`)}`,
    `Its console       ${style('cyan', `${origin}/console`)}`,
    '',
    `It listens on http://${where}:${port}, for a proxy that terminates TLS, and answers to ${new URL(origin).host} only.`,
    `The admin token is in ${secretsFile}. A token for each member:`,
    `  export PORTICO_URL=${origin}`,
    `  export PORTICO_TOKEN=$(node -p 'JSON.parse(fs.readFileSync(${JSON.stringify(secretsFile)})).adminToken')`,
    '  portico token create NAME',
    ...(isProxyUnnamed ? unnamed : []),
  ].join('\n');
}
