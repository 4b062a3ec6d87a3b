/** `portico doctor`: checks everything that has to be right, and says how to fix what is not. */
import type { Command } from 'commander';
import colors from 'picocolors';
import { checkGateway } from '../doctor/check-gateway.ts';
import {
  checkConfig,
  checkNode,
  checkTokenFiles,
  checkWebSocket,
} from '../doctor/check-machine.ts';
import { failed, skipped, type Finding } from '../doctor/finding.ts';
import { Failure } from '../failure.ts';
import {
  addGatewayOptions,
  findTarget,
  readLoginUrl,
  type GatewayOptions,
} from '../gateway-options.ts';
import { visible } from '../output/table.ts';
import { writeJson, writeOut } from '../terminal.ts';

interface Options extends GatewayOptions {
  config?: string;
  json?: boolean;
}

const HELP = `
Exit code 1 if a check fails.

Examples:
  portico doctor
  portico doctor --config mcp.json --url https://portico.example.com
  portico doctor --json | jq '.checks[] | select(.state == "failed")'`;

/** Adds `doctor`. */
export function addDoctor(program: Command): void {
  addGatewayOptions(program.command('doctor'))
    .summary('find problems, and what to do about them')
    .description('Check this machine, the gateway and its servers for problems.')
    .option('--config <file>', 'the mcp.json of portico connect (default mcp.json, if it exists)')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', HELP)
    .action(runDoctor);
}

async function runDoctor(options: Options): Promise<void> {
  const { env, versions } = process;
  const findings = [
    checkNode(versions.node),
    checkWebSocket(globalThis.WebSocket),
    ...(await checkConfig(options.config, env)),
    ...(await checkTokenFiles(options.tokenFile, env)),
    ...(await checkTarget(options)),
  ];
  const bad = findings.filter(({ state }) => state === 'failed').length;
  if (options.json) await writeJson({ ok: bad === 0, checks: findings });
  else await writeOut(findings.map(toLine).join(''));
  if (bad > 0) throw new Failure(bad === 1 ? '1 check failed' : `${bad} checks failed`);
}

/** Checks the configured gateway and its token; an invalid configuration is a finding too. */
async function checkTarget(options: Options): Promise<Finding[]> {
  const { env } = process;
  try {
    readLoginUrl(options, env);
  } catch (error) {
    const advice = 'see --url and PORTICO_URL';
    return [failed('gateway', reason(error), advice), skipped('token', 'no gateway is named')];
  }
  try {
    const target = findTarget(options, env);
    return await checkGateway(target.url, target.token, Date.now);
  } catch (error) {
    return [failed('token', reason(error), 'see PORTICO_TOKEN, --token-file and portico login')];
  }
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

const MARKS = {
  ok: colors.green('✓'),
  failed: colors.red('✗'),
  skipped: colors.dim('-'),
};

function toLine({ check, state, detail, advice }: Finding): string {
  const said = advice === undefined ? detail : `${detail}; ${advice}`;
  return `${MARKS[state]} ${visible(`${check}: ${said}`.replaceAll(/\s+/g, ' '))}\n`;
}
