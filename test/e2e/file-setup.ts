/**
 * Runs before each end-to-end test file of a process that runs several files in turn: modules that Node has loaded (vitest, the SDKs) are
 * kept; the modules of this project are evaluated again, so that no file finds the state of another or its used-up hooks.
 */
import { vi } from 'vitest';

vi.resetModules();
