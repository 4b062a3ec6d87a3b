/** The result of a tool: text, images and links are shown as such, everything else as JSON. Nothing in it is run or fetched. */
import { useState } from 'preact/hooks';
import type { ToolResult } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MAX_CHARS = 20_000;
const MAX_IMAGE_CHARS = 8_000_000;
/** An HTML page that a server made for hosts (MCP Apps). */
const PAGE = /^text\/html(?:;|$)/;
const MAX_PAGE_CHARS = 1_000_000;

export function Result({ result }: { result: ToolResult }) {
  const { content, isError, metadata, ...rest } = result;
  const structured = rest['structuredContent'];
  // A server may send anything.
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return (
    <section aria-label="Result">
      <h3>
        {isError ? 'It failed' : 'Result'}{' '}
        <span class="badge">{Math.round(metadata.execution_time_ms)} ms</span>
      </h3>
      {blocks.map((block, i) => (
        <Block key={i} block={block} />
      ))}
      {structured === undefined ? null : (
        <details open={blocks.length === 0}>
          <summary>Structured</summary>
          <Raw value={structured} />
        </details>
      )}
    </section>
  );
}

function Block({ block }: { block: unknown }) {
  const { type, text, data, mimeType, resource } = (block ?? {}) as Record<string, unknown>;
  if (type === 'text' && typeof text === 'string') {
    return (
      <pre class="foreign" tabIndex={0}>
        <Foreign text={text} max={MAX_CHARS} />
      </pre>
    );
  }
  const isImage = type === 'image' && typeof mimeType === 'string' && IMAGE.test(mimeType);
  if (isImage && typeof data === 'string' && data.length <= MAX_IMAGE_CHARS && BASE64.test(data)) {
    return <img alt="What the tool answered" src={`data:${mimeType};base64,${data}`} />;
  }
  const page = type === 'resource' ? toPage(resource) : undefined;
  return (
    <>
      {page === undefined ? null : <Page html={page} />}
      <Raw value={block} />
    </>
  );
}

function toPage(resource: unknown): string | undefined {
  const { mimeType, text } = (resource ?? {}) as Record<string, unknown>;
  const isPage = typeof mimeType === 'string' && PAGE.test(mimeType);
  return isPage && typeof text === 'string' && text.length <= MAX_PAGE_CHARS ? text : undefined;
}

/**
 * Shows the page in a sandboxed frame, where no script runs and nothing is loaded: this page's content security policy applies there too.
 */
function Page({ html }: { html: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a page, without its scripts and styles</summary>
      {isOpen ? (
        <iframe class="page" title="A page of the server" sandbox="" srcdoc={html} />
      ) : null}
    </details>
  );
}

const Raw = ({ value }: { value: unknown }) => (
  <pre class="foreign" tabIndex={0}>
    <Foreign text={JSON.stringify(value, null, 2)} max={MAX_CHARS} />
  </pre>
);
