/**
 * Before each end-to-end test file of a process that takes one after the other: what Node has loaded (vitest, the SDKs) is kept, and
 * the modules of this project are evaluated anew, so that a file finds neither what another kept in them nor their hooks spent.
 */
import { vi } from 'vitest';

vi.resetModules();
