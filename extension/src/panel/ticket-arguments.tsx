import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { MaxShownArgsBytes } from '../../../wire/wire.gen.ts';
import { type ArgumentRow, isLongValue, listArguments } from './argument-list.ts';
import { indentJson } from './json-text.ts';
import { Scrollable } from './scrollable.tsx';
import { isTruncated } from './tickets.ts';

/**
 * CodeTool is the browser tool that runs the agent's code. The user must see the whole code before approving a call
 * of CodeTool.
 */
const CodeTool = 'browser_evaluate';

/** TicketArguments shows the arguments of a call as a list, and as JSON after a click. */
export function TicketArguments({ json, tool }: { readonly json: string; readonly tool: string }): VNode {
  if (json === '' || json === '{}') return <p class="empty">No arguments.</p>;
  const rows = listArguments(json);
  return (
    <>
      {rows && (
        <Scrollable class="arguments" label="Arguments">
          <dl>
            {rows.map((row, i) => (
              <Argument key={i} row={row} isOpen={tool === CodeTool} />
            ))}
          </dl>
        </Scrollable>
      )}
      <details class="raw" open={!rows}>
        <summary>JSON</summary>
        <Scrollable class="pre args" label="Arguments as JSON">
          {indentJson(json)}
        </Scrollable>
      </details>
      {isTruncated(json) && (
        <p class="cut">Truncated: only the first {MaxShownArgsBytes / 1024} KB of the arguments are shown.</p>
      )}
    </>
  );
}

/** Argument is one argument of a call. A long value is folded until the user opens it. */
function Argument({ row, isOpen }: { readonly row: ArgumentRow; readonly isOpen: boolean }): VNode {
  const { name, text, isCode } = row;
  const [isShown, setIsShown] = useState(isOpen);
  const isFolded = isLongValue(text) && !isShown;
  return (
    <div class={isLongValue(text) ? 'long' : ''}>
      <dt>
        <bdi>{name}</bdi>
      </dt>
      <dd class={isCode ? 'code' : ''}>
        <div class={isFolded ? 'value folded' : 'value'}>
          {text === '' ? <span class="empty">empty</span> : <bdi>{text}</bdi>}
        </div>
        {isFolded && (
          <button type="button" class="unfold" aria-label={`Show all of ${name}`} onClick={() => setIsShown(true)}>
            Show all ({text.length.toLocaleString('en')} characters)
          </button>
        )}
      </dd>
    </div>
  );
}
