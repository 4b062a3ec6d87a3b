/** Names that stand for private addresses by convention: refused in any spelling, and no other names. */
import { describe, expect, it } from 'vitest';
import { decideAddress } from '../../../src/http/address-policy.ts';
import { INTERNAL_NAMES, REDIRECTING_NAMES } from '../../../src/http/private-names.ts';

describe('a name that stands for a private address by convention', () => {
  const CONVENTIONAL = [
    'metadata.goog',
    'metadata.google.internal',
    'instance-data.ec2.internal',
    'ip-10-0-0-1.eu-west-1.compute.internal',
    'metadata.tencentyun.com',
    'printer.localdomain',
    'localhost.localdomain',
    'api.default.svc',
    'api.default.svc.cluster.local',
    '10-0-0-1.default.pod',
    'vault.service.consul',
    'web.service.dc1.consul',
    '1.0.0.127.in-addr.arpa',
    '1.0.0.0.ip6.arpa',
    'nas.home.arpa',
    'host.docker.internal',
    'fritz.box',
    '127.0.0.1.nip.io',
    '10-0-0-1.sslip.io',
    'app.10.0.0.1.xip.io',
    'localtest.me',
    'app.lvh.me',
    '192-168-1-5.0123456789abcdef.plex.direct',
    'make-127-0-0-1-rr.1u.ms',
    '7f000001.c0a80001.rbndr.us',
    'spoofed.burpcollaborator.net',
  ];

  it.each(CONVENTIONAL)('[SEC-3] %s is refused in any spelling', name => {
    for (const host of [name, `${name}.`, name.toUpperCase(), `a.b.${name}`]) {
      for (const allowsLoopback of [false, true]) {
        expect(decideAddress(`https://${host}/mcp`, allowsLoopback).allowed).toBe(false);
      }
    }
  });

  it.each([
    'metadata.goog.example.com',
    'mymetadata.goog',
    'consul.example.com',
    'in-addr.arpa.example.com',
    'notnip.io',
    'svc.dev',
    'nip.io.example.com',
    'my-box.box',
    'apple.com',
    'goog.com',
  ])('[SEC-3] %s only looks like one and is allowed', name => {
    expect(decideAddress(`https://${name}/mcp`, false).allowed).toBe(true);
  });

  it('[SEC-3] each list is sorted, in lower case, without a name below another', () => {
    for (const names of [INTERNAL_NAMES, REDIRECTING_NAMES]) {
      expect(names).toEqual([...new Set(names)].toSorted());
      for (const name of names) {
        expect(name).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/);
        expect(names.filter(other => name.endsWith(`.${other}`))).toEqual([]);
        expect(decideAddress(`https://x.${name}/`, false).allowed).toBe(false);
      }
    }
  });
});
