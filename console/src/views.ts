/** All views, in the order of the navigation. Each is its own script, loaded when it is opened. */
import type { ComponentType } from 'preact';
import type { Me } from './api/me.ts';
import type { ViewProps } from './view-props.ts';

export interface View {
  /** Path below `/console`. */
  path: string;
  name: string;
  /** Scope needed to see it; administrators see all views. */
  needs?: Me['scopes'][number];
  load(): Promise<{ default: ComponentType<ViewProps> }>;
}

export const VIEWS: readonly View[] = [
  { path: '/', name: 'Overview', load: () => import('./views/overview.tsx') },
  {
    path: '/approvals',
    name: 'Approvals',
    needs: 'servers:read',
    load: () => import('./views/approvals.tsx'),
  },
  {
    path: '/activity',
    name: 'Activity',
    needs: 'tools:read',
    load: () => import('./views/activity.tsx'),
  },
  {
    path: '/usage',
    name: 'Usage',
    needs: 'tools:read',
    load: () => import('./views/usage.tsx'),
  },
  { path: '/why', name: 'Why', needs: 'admin', load: () => import('./views/why.tsx') },
  {
    path: '/servers',
    name: 'Servers',
    needs: 'servers:read',
    load: () => import('./views/servers.tsx'),
  },
  { path: '/tools', name: 'Tools', load: () => import('./views/tools.tsx') },
  {
    path: '/people',
    name: 'People',
    needs: 'admin',
    load: () => import('./views/people.tsx'),
  },
  { path: '/rules', name: 'Rules', needs: 'admin', load: () => import('./views/rules.tsx') },
  {
    path: '/toolsets',
    name: 'Toolsets',
    needs: 'admin',
    load: () => import('./views/toolsets.tsx'),
  },
  {
    path: '/secrets',
    name: 'Secrets',
    needs: 'secrets:write',
    load: () => import('./views/secrets.tsx'),
  },
  {
    path: '/machines',
    name: 'Machines',
    needs: 'servers:read',
    load: () => import('./views/machines.tsx'),
  },
  { path: '/accounts', name: 'Accounts', load: () => import('./views/accounts.tsx') },
  {
    path: '/connect',
    name: 'Connect a client',
    needs: 'tools:read',
    load: () => import('./views/connect.tsx'),
  },
  { path: '/settings', name: 'Settings and keys', load: () => import('./views/settings.tsx') },
];
