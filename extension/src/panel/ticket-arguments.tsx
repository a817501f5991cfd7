import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { MaxShownArgsBytes } from '../../../wire/wire.gen.ts';
import { type ArgumentRow, listArguments, needsOwnBlock } from './argument-list.ts';
import { indentJson } from './json-text.ts';
import { ScrollableArea } from './scrollable.tsx';
import { isTruncated } from './tickets.ts';

/** Before approving a call of browser_evaluate, the user must see the whole code. */
const EvaluateToolName = 'browser_evaluate';

export function TicketArguments({ json, tool }: { readonly json: string; readonly tool: string }): VNode {
  if (json === '' || json === '{}') return <p class="empty">No arguments.</p>;
  const argumentRows = listArguments(json);
  return (
    <>
      {argumentRows && (
        <ScrollableArea class="arguments" label="Arguments">
          <dl>
            {argumentRows.map((argumentRow, i) => (
              <TicketArgument key={i} argumentRow={argumentRow} isOpen={tool === EvaluateToolName} />
            ))}
          </dl>
        </ScrollableArea>
      )}
      <details class="raw" open={!argumentRows}>
        <summary>JSON</summary>
        <ScrollableArea class="pre args" label="Arguments as JSON">
          {indentJson(json)}
        </ScrollableArea>
      </details>
      {isTruncated(json) && (
        <p class="cut">Truncated: only the first {MaxShownArgsBytes / 1024} KB of the arguments are shown.</p>
      )}
    </>
  );
}

function TicketArgument({
  argumentRow,
  isOpen,
}: {
  readonly argumentRow: ArgumentRow;
  readonly isOpen: boolean;
}): VNode {
  const { name, text: argumentText, isCode } = argumentRow;
  const [isShown, setIsShown] = useState(isOpen);
  const isFolded = needsOwnBlock(argumentText) && !isShown;
  return (
    <div class={needsOwnBlock(argumentText) ? 'long' : ''}>
      <dt>
        <bdi>{name}</bdi>
      </dt>
      <dd class={isCode ? 'code' : ''}>
        <div class={isFolded ? 'value folded' : 'value'}>
          {argumentText === '' ? <span class="empty">empty</span> : <bdi>{argumentText}</bdi>}
        </div>
        {isFolded && (
          <button type="button" class="unfold" aria-label={`Show all of ${name}`} onClick={() => setIsShown(true)}>
            Show all ({argumentText.length.toLocaleString('en')} characters)
          </button>
        )}
      </dd>
    </div>
  );
}
