/**
 * How others reach the gateway: `--host`, `--public-url`, `--trusted-proxies`, or the same as environment variables. Owns which of them
 * belong together: without a public URL only this machine is let in, and no proxy is trusted.
 */
import { isIP } from 'node:net';
import { toPublicOrigin } from '../src/http/host-settings.ts';
import { parseProxies, type Proxies } from './client-address.ts';
import { LOOPBACK } from './ports.ts';
import { StartError } from './start-error.ts';

export interface PublicOptions {
  /** Address of this machine to listen on. */
  host: string;
  origin: string;
  proxies: Proxies;
  /** Whether no proxy is named. */
  isProxyUnnamed: boolean;
  /** Maximum number of requests of one address in a minute; 0 means no limit. */
  perMinute: number;
}

/** Environment variables that stand for options. */
export const PUBLIC_VARIABLES = [
  'PORTICO_HOST',
  'PORTICO_PUBLIC_URL',
  'PORTICO_TRUSTED_PROXIES',
  'PORTICO_ADDRESS_RATE_LIMIT',
] as const;

type Environment = Readonly<Record<string, string | undefined>>;

export interface PublicValues {
  host?: string | undefined;
  'public-url'?: string | undefined;
  'trusted-proxies'?: string | undefined;
}

const PER_MINUTE = 3_000;
const EXAMPLE = 'npm start -- --host 0.0.0.0 --public-url https://mcp.example.com';

const wrong = (line: string) => new StartError(line, 2);

/**
 * Parses the options, which take precedence over the environment.
 * @returns undefined if the gateway is for this machine only
 * @throws StartError with exit code 2
 */
export function parsePublic(
  values: PublicValues,
  environment: Environment,
): PublicOptions | undefined {
  const host = parseHost(values.host ?? (environment['PORTICO_HOST'] || LOOPBACK));
  const url = values['public-url'] ?? environment['PORTICO_PUBLIC_URL'] ?? '';
  const proxies = values['trusted-proxies'] ?? environment['PORTICO_TRUSTED_PROXIES'] ?? '';
  if (url === '') {
    if (values['public-url'] === '') throw badUrl('');
    if (host !== LOOPBACK) {
      throw wrong(
        `--host ${host} lets others in, so it needs --public-url, the address that they use: ${EXAMPLE}`,
      );
    }
    if (proxies !== '') {
      throw wrong(`--trusted-proxies needs --public-url, the address that clients use: ${EXAMPLE}`);
    }
    return undefined;
  }
  const origin = toPublicOrigin(url);
  if (origin === undefined) throw badUrl(url);
  return {
    host,
    origin,
    proxies: parseProxies(proxies),
    isProxyUnnamed: proxies === '',
    perMinute: parsePerMinute(environment['PORTICO_ADDRESS_RATE_LIMIT'] || String(PER_MINUTE)),
  };
}

const badUrl = (url: string) =>
  wrong(
    `--public-url must be https and a host without a path, for instance https://mcp.example.com; not ${JSON.stringify(url)}.`,
  );

function parseHost(text: string): string {
  if (text === 'localhost') return LOOPBACK;
  if (isIP(text) !== 0) return text;
  throw wrong(
    `--host must be an address of this machine, for instance 0.0.0.0 (all) or 127.0.0.1; not ${JSON.stringify(text)}.`,
  );
}

function parsePerMinute(text: string): number {
  const perMinute = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (perMinute <= 1_000_000) return perMinute;
  throw wrong('PORTICO_ADDRESS_RATE_LIMIT must be a number from 0 (no limit) to 1000000.');
}
