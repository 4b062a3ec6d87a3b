/** Imported before the probes, it makes all of them call their tools through `call_tool`. */
import { way } from './way.ts';

way.isThrough = true;
