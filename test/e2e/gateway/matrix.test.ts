/**
 * Every feature of the protocol in every cell: each kind of client through one gateway to each kind of upstream, with the SDKs' own clients
 * and servers. The probes are in `matrix/`; they prove the table of docs/protocol-support.md.
 */
import './matrix/offers.ts';
import './matrix/calls.ts';
import './matrix/questions.ts';
import './matrix/eras.ts';
import './matrix/streams.ts';
