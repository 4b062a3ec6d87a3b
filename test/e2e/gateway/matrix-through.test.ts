/**
 * The probes of calls and questions again, with each call made through `call_tool`: whatever works when a tool is called by its name works
 * this way too, in every cell.
 */
import './matrix/through-call-tool.ts';
import './matrix/calls.ts';
import './matrix/questions.ts';
