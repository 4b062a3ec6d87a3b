/** Where the views of the console are, below `/console`. */
export const VIEWS = [
  '',
  '/approvals',
  '/activity',
  '/why',
  '/servers',
  '/rules',
  '/toolsets',
  '/tools',
  '/people',
  '/machines',
  '/secrets',
  '/connect',
  '/accounts',
  '/settings',
];
