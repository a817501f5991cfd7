import type { AnyTab, SecretFields, TabInspection } from '../../../../wire/wire.gen.ts';
import type { InspectArguments, InspectResult } from '../../page/secret-kind.ts';
import { awaitWithin } from '../../within.ts';
import { type FrameTarget, MaxFrames, type TabFrames } from './tab-frames.ts';

/** InspectionTimeoutMs limits how long a frame may take to find its secret fields, in milliseconds. */
const InspectionTimeoutMs = 1000;

/**
 * findSecretFields returns the kinds of secret fields of a page, such as password fields. findSecretFields returns
 * undefined if the top frame, or a frame into which the call types, does not answer. If the page does not answer, the
 * server assumes that the page has secret fields.
 */
export async function findSecretFields(
  frames: TabFrames,
  { tabId, documentId }: AnyTab,
  { refs = [], focused = false }: TabInspection,
): Promise<SecretFields | undefined> {
  if (documentId === undefined) return undefined;
  const [top, ...others] = await frames.list({ tabId, documentId, args: {} });
  if (!top) return undefined;
  const inspected = [top, ...others.filter((frame) => filterRefsOfFrame(frame, refs).length > 0)];
  const further = others.filter((frame) => !inspected.includes(frame)).slice(0, MaxFrames);
  const run = (frame: FrameTarget) => inspectFrame(frames, frame, { targets: filterRefsOfFrame(frame, refs), focused });
  const [required, optional] = await Promise.all([Promise.all(inspected.map(run)), Promise.all(further.map(run))]);
  if (required.includes(undefined)) return undefined;
  const results = [...required, ...optional].filter((result) => result !== undefined);
  const join = (kinds: readonly (readonly string[])[]) => [...new Set(kinds.flat())].sort();
  return { shown: join(results.map(({ shown }) => shown)), typed: join(results.map(({ typed }) => typed)) };
}

function filterRefsOfFrame({ prefix }: FrameTarget, refs: readonly string[]): string[] {
  return refs.filter((ref) => (/^(f\d+)e\d+$/.exec(ref)?.[1] ?? '') === prefix);
}

async function inspectFrame(
  frames: TabFrames,
  frame: FrameTarget,
  args: InspectArguments,
): Promise<InspectResult | undefined> {
  const controller = new AbortController();
  const inspecting = frames.run({ signal: controller.signal, report: () => undefined }, frame, 'inspect', args);
  const result = await awaitWithin(inspecting, InspectionTimeoutMs);
  if (result === undefined) controller.abort('the frame did not answer in time');
  return result;
}
