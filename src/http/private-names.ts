/**
 * Host names that stand for private addresses by convention, as data for the address policy (`address-policy.ts`,
 * SEC-3). Each entry refuses the name and every name below it. Lower case, sorted, and no entry lies below another of
 * its list. Pure.
 */

/**
 * Names that resolve only inside a network: reserved ones (RFC 2606, 6761, 6762, 7686, 8375, 9476; `arpa` has no host
 * that we need), those of clusters, containers and service registries, those that routers assign, and the metadata
 * services of clouds.
 */
export const INTERNAL_NAMES: readonly string[] = [
  'alt',
  'arpa',
  'cluster',
  'consul',
  'corp',
  'dmz',
  'docker',
  'fritz.box',
  'gateway',
  'home',
  'homenet',
  'internal',
  'intra',
  'intranet',
  'invalid',
  'k8s',
  'kube',
  'kubernetes',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'localnet',
  'metadata.goog',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
  'mshome.net',
  'nomad',
  'onion',
  'pod',
  'private',
  'prv',
  'router',
  'svc',
  'test',
  'workgroup',
];

/**
 * Public names that resolve to an address that their label or owner chooses, or to the requesting machine itself:
 * wildcard DNS for developers, and names made to bypass checks of the text.
 */
export const REDIRECTING_NAMES: readonly string[] = [
  '127-0-0-1.org.uk',
  '1u.ms',
  '42foo.com',
  'backname.io',
  'beweb.com',
  'bugbounty.dod.network',
  'fuf.me',
  'ip6.name',
  'ipq.co',
  'lacolhost.com',
  'lndo.site',
  'local-ip.co',
  'local-ip.medicmobile.org',
  'local-ip.sh',
  'local.gd',
  'localdev.me',
  'localdomain.pw',
  'localho.st',
  'localhost.direct',
  'localtest.me',
  'lvh.me',
  'mail.ebc.apple.com',
  'nip.io',
  'plex.direct',
  'r3dir.me',
  'rbndr.us',
  'rebind.it',
  'rebind.network',
  'smackaho.st',
  'spoofed.burpcollaborator.net',
  'sslip.io',
  'traefik.me',
  'ulh.us',
  'vcap.me',
  'xip.io',
  'xip.name',
  'yoogle.com',
];

/** Whether a host is one of these names or lies below one. @param host lower case, no trailing dot */
export function isWithin(names: readonly string[], host: string): boolean {
  return names.some(name => host === name || host.endsWith(`.${name}`));
}
