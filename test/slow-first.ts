/**
 * The order of files: those that take long come first in their project, so that at its end not all others wait for one of them. Without
 * times of an earlier run, vitest begins with the largest file, which says little.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files below `test/` that take half a minute or more, the slowest of each project first. */
const SLOW = [
  'unit/gates/expressions',
  'worker/audit/call-audit',
  'worker/servers/approval-decisions',
  'worker/monitor/lifecycle-model',
  'worker/mcp/list-changed',
  'worker/gateway/huge-errors',
  'worker/gateway/interleavings',
  'worker/upstream/program-calls',
  'e2e/local/guides',
  'e2e/audit/call-audit',
  'e2e/deploy/broken-deploys',
  'e2e/access/access-matrix',
  'e2e/console/firefox-tasks',
  'e2e/http/ssrf',
  'e2e/gateway/matrix',
  'e2e/cli/resources',
  'e2e/console/firefox',
  'e2e/cli/apply',
  'e2e/deploy/deploy',
  'e2e/cli/client',
  'e2e/cli/commands',
  'e2e/cli/up',
  'e2e/access/access-search',
  'e2e/monitoring/alerts',
  'e2e/deploy/upgrade',
  'e2e/local/stopping',
  'e2e/gateway/isolation',
  'e2e/cli/killed-applies',
].map(name => `/test/${name}.test.ts`);

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const stale = SLOW.filter(path => !existsSync(join(ROOT, path)));
if (stale.length > 0) throw new Error(`test/slow-first.ts names no file: ${stale.join(', ')}`);

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = SLOW.findIndex(name => moduleId.endsWith(name));
  return at < 0 ? SLOW.length : at;
};

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of a sequencer, not of an array
    const sorted = await super.sort(files);
    // By project already, in the order in which the projects run.
    const projects = Map.groupBy(sorted, ({ project }) => project);
    return [...projects.values()].flatMap(each => each.toSorted((a, b) => rankOf(a) - rankOf(b)));
  }
}
