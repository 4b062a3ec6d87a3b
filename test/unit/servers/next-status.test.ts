/** How checks change a server's status: the thresholds, the challenge that is not a failure, and that each transition is legal. */
import { describe, expect, it } from 'vitest';
import { decideState, decideStatus, type Known } from '../../../src/servers/health/next-status.ts';
import {
  decisive,
  goodFinding,
  toFinding,
  FINDING_KINDS,
} from '../../../src/servers/health/finding.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { isLegalStep, ServerStatusSchema } from '../../../src/servers/registry/status.ts';
import { settingsOf } from '../../../src/servers/health/health-settings.ts';
import { createRandom, SEED } from '../seeded.ts';

const known = (more: Partial<Known>): Known => ({
  status: 'CONNECTED',
  isDiscovered: true,
  finding: 'good',
  failures: 0,
  threshold: 3,
  isImpaired: false,
  ...more,
});
const failed = (failures: number, more: Partial<Known> = {}) =>
  decideStatus(known({ finding: 'failed', failures, ...more }));

describe('decideStatus', () => {
  it('[AG-US5-AC5] [REG-4] becomes ERROR at the third failure in a row, or at the configured number', () => {
    expect([1, 2, 3, 4].map(failures => failed(failures))).toEqual([
      'CONNECTED',
      'CONNECTED',
      'ERROR',
      'ERROR',
    ]);
    expect(failed(2, { status: 'DEGRADED' })).toBe('DEGRADED');
    expect(failed(1, { threshold: 1 })).toBe('ERROR');
    expect(failed(99, { threshold: 100 })).toBe('CONNECTED');
  });

  it('[AG-US5-AC4] becomes ERROR at once for a server that never answered', () => {
    expect(failed(1, { status: 'CONNECTING' })).toBe('ERROR');
    expect(failed(1, { status: 'DEGRADED', isDiscovered: false })).toBe('ERROR');
  });

  it('[AG-US5-AC4] [REG-4] recovers with the first good check, except before the first discovery', () => {
    expect(decideStatus(known({ status: 'ERROR' }))).toBe('CONNECTED');
    expect(decideStatus(known({ status: 'DEGRADED' }))).toBe('CONNECTED');
    expect(decideStatus(known({ status: 'ERROR', isImpaired: true }))).toBe('DEGRADED');
    expect(decideStatus(known({ status: 'ERROR', isDiscovered: false }))).toBe('ERROR');
  });

  it('[REG-4] becomes DEGRADED for elevated errors and for a challenge, which is never down', () => {
    expect(decideStatus(known({ isImpaired: true }))).toBe('DEGRADED');
    for (const status of ['CONNECTING', 'CONNECTED', 'DEGRADED', 'ERROR'] as const) {
      expect(decideStatus(known({ status, finding: 'auth_required', failures: 9 }))).toBe(
        'DEGRADED',
      );
    }
  });

  it(`[AG-US5-AC4] makes only legal transitions, and none out of DISCONNECTED (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 5_000; round += 1) {
      const status = random.pick(ServerStatusSchema.options);
      const next = decideStatus({
        status,
        isDiscovered: random.chance(0.7),
        finding: random.pick(FINDING_KINDS),
        failures: random.below(6),
        threshold: 1 + random.below(5),
        isImpaired: random.chance(0.3),
      });
      expect(isLegalStep(status, next)).toBe(true);
      expect(next === 'DISCONNECTED').toBe(status === 'DISCONNECTED');
    }
  });
});

describe('decideState', () => {
  it('[AG-US5-AC6] distinguishes a failure, a server that is down, a challenge and elevated errors', () => {
    expect(decideState('CONNECTED', 'good', false)).toBe('healthy');
    expect(decideState('DEGRADED', 'good', true)).toBe('degraded');
    expect(decideState('CONNECTED', 'failed', true)).toBe('failing');
    expect(decideState('ERROR', 'failed', false)).toBe('down');
    expect(decideState('DEGRADED', 'auth_required', true)).toBe('auth_required');
  });
});

describe('a finding', () => {
  it('[REG-4] is a challenge for 401 and 403, a failure for all else', () => {
    const kindOf = (code: ConstructorParameters<typeof PorticoError>[0]) =>
      toFinding('ping', new PorticoError(code), 1).kind;
    expect([kindOf('upstream_auth'), kindOf('upstream_scope')]).toEqual([
      'auth_required',
      'auth_required',
    ]);
    expect([kindOf('upstream_timeout'), kindOf('upstream_5xx')]).toEqual(['failed', 'failed']);
  });

  it('[REG-4] that is worse decides', () => {
    const good = goodFinding('url', 3);
    const challenged = toFinding('look', new PorticoError('upstream_auth'), 4);
    const bad = toFinding('ping', new PorticoError('upstream_5xx'), 5);
    expect(decisive([])).toBeUndefined();
    expect(decisive([good])).toBe(good);
    expect(decisive([good, challenged])).toBe(challenged);
    expect(decisive([challenged, bad, good])).toBe(bad);
  });
});

describe('settingsOf', () => {
  it("[AG-US5-AC1] [REG-4] puts a server's own settings over the deployment's", () => {
    const pace = { intervalMs: 30_000, quietMs: 300_000 };
    const defaults = { ...pace, failureThreshold: 3, degradedErrorRate: 0.2 };
    expect(settingsOf({}, defaults)).toEqual(defaults);
    expect(settingsOf({ interval_seconds: 5, degraded_error_rate: 0.5 }, defaults)).toEqual({
      intervalMs: 5_000,
      // An own interval is kept, however quiet the server is.
      quietMs: 5_000,
      failureThreshold: 3,
      degradedErrorRate: 0.5,
    });
    expect(settingsOf({ failure_threshold: 7 }, defaults).failureThreshold).toBe(7);
  });
});
