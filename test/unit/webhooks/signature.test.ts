/** Signatures as Standard Webhooks defines them, checked with the example of its own libraries' tests. */
import { describe, expect, it } from 'vitest';
import { createSecret, toSignedHeaders } from '../../../src/webhooks/signature.ts';
import { decideNextAt, GIVE_UP_MS } from '../../../src/webhooks/pace.ts';
import { secretsOf } from '../../../src/webhooks/sealed-address.ts';

describe('a signature', () => {
  // From the project's own tests, github.com/standard-webhooks/standard-webhooks, libraries/*/test.
  it('[OPS-7] equals that of the example', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const headers = await toSignedHeaders(
      [secret],
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      '{"test": 2432232314}',
      1_614_265_330_999,
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('[OPS-7] is made with each secret, and with a former one until that expires', async () => {
    const target = { url: '', secret: createSecret(), former: { secret: 'whsec_AA==', until: 10 } };
    expect(secretsOf(target, 9)).toEqual([target.secret, 'whsec_AA==']);
    expect(secretsOf(target, 10)).toEqual([target.secret]);
    expect(createSecret()).not.toBe(createSecret());
    const { 'webhook-signature': both } = await toSignedHeaders(secretsOf(target, 9), 'a', 'b', 0);
    expect(both?.split(' ')).toHaveLength(2);
  });
});

describe('the retry schedule', () => {
  it('[OPS-7] slows down from seconds to hours, with a last try at its end', () => {
    const at: number[] = [];
    let now = 0;
    for (let attempts = 1; attempts < 100; attempts += 1) {
      const failure = { attempts, giveUpAt: GIVE_UP_MS, retryAfterMs: 0 };
      const next = decideNextAt(failure, now, 0.5);
      if (next === undefined) break;
      at.push((now = next));
    }
    expect(at.slice(0, 5)).toEqual([5_500, 38_500, 170_500, 830_500, 2_810_500]);
    expect(at.at(-1)).toBe(GIVE_UP_MS);
    expect(at.length).toBeLessThan(25);
  });

  it('[OPS-7] waits as long as a receiver asks for', () => {
    const failure = { attempts: 1, giveUpAt: GIVE_UP_MS, retryAfterMs: 900_000 };
    expect(decideNextAt(failure, 1_000, 0)).toBe(901_000);
    expect(decideNextAt({ ...failure, giveUpAt: 2_000 }, 1_000, 0)).toBe(2_000);
    expect(decideNextAt({ ...failure, giveUpAt: 1_000 }, 1_000, 0)).toBeUndefined();
  });
});
