import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ActivityView } from '../../../wire/wire.gen.ts';
import { ScrollableArea } from './scrollable.tsx';
import { type ShownActivity, type ShownTable, toShownActivity } from './shown-activity.ts';
import { removeHiddenCharacters } from './wording.ts';

export interface ActivitiesProps {
  readonly callId: string;
  readonly activities: readonly ActivityView[];
  readonly isCollapsed: boolean;
}

/**
 * Activities renders the content that a tool shows beside its progress, such as a table. The panel shows an activity's
 * content as plain text, never as HTML.
 */
export function Activities({ callId, activities, isCollapsed }: ActivitiesProps): VNode {
  return (
    <>
      {activities.map((activity) => (
        <Activity key={activity.type} callId={callId} activity={activity} isFolded={isCollapsed} />
      ))}
    </>
  );
}

function Activity(activityProps: {
  readonly callId: string;
  readonly activity: ActivityView;
  readonly isFolded: boolean;
}): VNode {
  const { callId, activity, isFolded } = activityProps;
  const { type, content = '', bytes } = activity;
  // Use useMemo, because the panel renders up to 20 times per second, and a call's activities may total 512 KB.
  const shownActivity = useMemo(() => toShownActivity({ type, content, bytes }), [type, content, bytes]);
  const name = removeHiddenCharacters(type);
  const contentNode = <ActivityContent shownActivity={shownActivity} name={name} callId={callId} />;
  if (shownActivity.kind !== 'json' && !isFolded)
    return <div class={`activity ${shownActivity.kind}`}>{contentNode}</div>;
  return (
    <details class={`activity ${shownActivity.kind}`}>
      <summary class="fold">
        <span class="type">{name}</span> <span class="size">{formatSize(bytes)}</span>
      </summary>
      {contentNode}
    </details>
  );
}

function ActivityContent({
  shownActivity,
  name,
  callId,
}: {
  readonly shownActivity: ShownActivity;
  readonly name: string;
  readonly callId: string;
}): VNode {
  switch (shownActivity.kind) {
    case 'text':
      return (
        <ScrollableArea class="prose" label={name}>
          {shownActivity.text}
        </ScrollableArea>
      );
    case 'code':
      return (
        <>
          {shownActivity.language && <span class="language">{shownActivity.language}</span>}
          <ScrollableArea class="pre" label={name}>
            {shownActivity.text}
          </ScrollableArea>
        </>
      );
    case 'table':
      return <ActivityTable table={shownActivity} name={name} />;
    case 'json':
      return (
        <ScrollableArea class="pre" label={name}>
          {shownActivity.text}
        </ScrollableArea>
      );
    case 'large':
      return (
        <p class="cut">
          {name}: {formatSize(shownActivity.bytes)}, too large for this panel. Show it with{' '}
          <code>opentabs calls show {callId}</code>.
        </p>
      );
  }
}

function ActivityTable({ table, name }: { readonly table: ShownTable; readonly name: string }): VNode {
  const { columns, rows, omittedRowCount: omittedRows, omittedColumnCount: omittedColumns } = table;
  const omittedCount = [
    omittedRows > 0 && `${omittedRows} more rows`,
    omittedColumns > 0 && `${omittedColumns} more columns`,
  ].filter(Boolean);
  return (
    <>
      <ScrollableArea class="scroll" label={name}>
        <table aria-label={name}>
          <thead>
            <tr>
              {columns.map((column, i) => (
                <th key={`${i} ${column}`} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((tableRow, i) => (
              <tr key={`${i}`}>
                {tableRow.map((cell, j) => (
                  <td key={`${columns[j]} ${j}`}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollableArea>
      {omittedCount.length > 0 && <p class="cut">And {omittedCount.join(', ')}.</p>}
    </>
  );
}

function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
