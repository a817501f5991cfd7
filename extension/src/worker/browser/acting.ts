import type {
  ActionArguments,
  ClickResult,
  FillArguments,
  FillField,
  FillOutcome,
  Modifier,
  MouseButton,
  PageActionResult,
  ScrollArguments,
  TypeResult,
} from '../../page/operations.ts';
import type { SecretKind } from '../../page/secret-kind.ts';
import type { UploadFile } from '../../page/upload-operation.ts';
import { isRecord } from '../../record.ts';
import type { ActionOutcome, PageActions } from './acts.ts';
import { readChoice, readFlag, readNumber, readText, readTexts, requireText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import type { TrustedInput } from './debugger/trusted-input.ts';
import type { FrameTarget, TabFrames } from './tab-frames.ts';
import { addUserText, makeCallFailure, toolFailure } from './tool-failure.ts';

const mouseButtons: readonly MouseButton[] = ['left', 'right', 'middle'];
const modifierNames: readonly Modifier[] = ['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'];
const directions = ['up', 'down', 'left', 'right', 'top', 'bottom'] as const;

export function makeActionTools(
  frames: TabFrames,
  pageActions: PageActions,
  trustedInput: TrustedInput,
): [string, BrowserTool][] {
  const actionTools = new ActionTools(frames, pageActions, trustedInput);
  return [
    ['browser_click', (call) => actionTools.click(call)],
    ['browser_type', (call) => actionTools.type(call)],
    ['browser_fill_form', (call) => actionTools.fillForm(call)],
    ['browser_select_option', (call) => actionTools.selectOption(call)],
    ['browser_hover', (call) => actionTools.hover(call)],
    ['browser_drag', (call) => actionTools.drag(call)],
    ['browser_press_key', (call) => actionTools.pressKey(call)],
    ['browser_scroll', (call) => actionTools.scroll(call)],
    ['browser_file_upload', (call) => actionTools.upload(call)],
  ];
}

/** ActionTools implements the tools that act on a page, with one method for each tool. */
class ActionTools {
  readonly #frames: TabFrames;
  readonly #pageActions: PageActions;
  readonly #trustedInput: TrustedInput;
  /** #lastActionFrames contains the frame of the last action in each tab, by the ID of the tab's top document. */
  readonly #lastActionFrames = new Map<string, FrameTarget>();

  constructor(frames: TabFrames, pageActions: PageActions, trustedInput: TrustedInput) {
    this.#frames = frames;
    this.#trustedInput = trustedInput;
    this.#pageActions = pageActions;
  }

  async click(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const target = requireText(args, 'target');
    const button = readChoice(args, 'button', mouseButtons);
    const modifiers = readTexts(args, 'modifiers')?.map(toModifier);
    const options = {
      ...readActionOptions(call),
      target,
      doubleClick: readFlag(args, 'doubleClick'),
      ...(button === undefined ? {} : { button }),
      ...(modifiers === undefined ? {} : { modifiers }),
    };
    const act = await this.#runInRefFrame(call, target, async (frame) => {
      const clickResult = await this.#trustedInput.run(call, frame, { name: 'click', args: options, isTrusted: true });
      return await this.#pageActions.runLinkScript(call, frame, clickResult);
    });
    const link = act.result?.link;
    const content = link?.newTab === true ? [`link: ${link.href}`] : [];
    return await this.#pageActions.describe(call, `Clicked ${target}`, await this.#followLink(call, act), { content });
  }

  /** Chrome opens no new tabs for synthetic clicks. */
  async #followLink(call: BrowserCall, act: ActionOutcome<ClickResult>): Promise<ActionOutcome<ClickResult>> {
    const link = act.result?.link;
    if (!link?.newTab || act.result?.input === 'trusted' || act.opened.length > 0 || act.load !== undefined) return act;
    const tabId = await this.#pageActions.openLink(call, link.href);
    return tabId === undefined ? act : { ...act, opened: [{ tabId, url: link.href }] };
  }

  async type(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const target = requireText(args, 'target');
    const [slowly, submit] = [readFlag(args, 'slowly'), readFlag(args, 'submit')];
    const text = requireText(args, 'text');
    const options = { ...readActionOptions(call), target, text, append: readFlag(args, 'append'), slowly, submit };
    // Text that is inserted in one step causes trusted input events even without the debugger.
    const act = await this.#runInRefFrame(call, target, (frame) =>
      this.#trustedInput.run(call, frame, { name: 'type', args: options, isTrusted: slowly || submit }),
    );
    return await this.#pageActions.describe(call, `Typed into ${target}`, act, describeValue(act.result));
  }

  /** One page script operation fills all consecutive fields that are in the same frame. */
  async fillForm(call: BrowserCall): Promise<BrowserResult> {
    const fields = readFields(call.args.fields);
    const groups: { frame: FrameTarget; fields: FillField[] }[] = [];
    for (const field of fields) {
      const frame = await this.#frames.findFrameByRef(call, field.target);
      const lastGroup = groups.at(-1);
      if (lastGroup?.frame.documentId === frame.documentId) lastGroup.fields.push(field);
      else groups.push({ frame, fields: [field] });
    }
    const outcomes: FillOutcome[] = [];
    let lastOutcome: ActionOutcome<PageActionResult> | undefined;
    let isSubmitted = false;
    for (const [i, { frame, fields: group }] of groups.entries()) {
      const isLastGroup = i === groups.length - 1;
      const options: FillArguments = {
        ...readActionOptions(call),
        ...(isLastGroup ? {} : { snapshot: 'none' }),
        fields: group,
        submit: isLastGroup && readFlag(call.args, 'submit'),
      };
      const act = await this.#runInFrame(call, frame, () =>
        this.#trustedInput.run(call, frame, { name: 'fill', args: options, isTrusted: true }),
      );
      // If the document ended during the action, the number of filled fields is known, but not their values.
      const filledFields = group.slice(0, act.doneSteps ?? 0).map(({ target }) => ({ target, ok: true }));
      outcomes.push(...(act.result?.fields ?? filledFields));
      isSubmitted ||= act.result?.submitted === true;
      lastOutcome = act;
      if (!act.result) break;
    }
    if (!lastOutcome) throw makeCallFailure('invalid_arguments', 'browser_fill_form needs at least one field');
    const failedOutcomes = outcomes.filter(({ ok }) => !ok);
    const code = failedOutcomes.some(({ error }) => error?.code === 'needs_approval') ? 'needs_approval' : 'rejected';
    if (failedOutcomes.length === outcomes.length && failedOutcomes[0]?.error)
      throw toolFailure(
        code,
        addUserText(code, `no field was filled: ${failedOutcomes.map(describeFailure).join('; ')}`),
        failedOutcomes.map(describePageText).join('\n').trim() || undefined,
      );
    const sentences = failedOutcomes.length > 0 ? ['The others were not filled.'] : [];
    if (!lastOutcome.result && outcomes.length < fields.length)
      sentences.push('The document ended during the action: check which fields have been filled.');
    if (isSubmitted) sentences.push('The form was submitted.');
    const wantedValues = new Map(fields.map(({ target, value }) => [target, String(value)]));
    const content = outcomes.flatMap((outcome) => {
      if (!outcome.ok) return [`${describeFailure(outcome)} (not filled)`, describePageText(outcome)].filter(Boolean);
      const { target, value } = outcome;
      // If a field's value differs from the requested value, a separate line reports the field's actual value.
      return value === undefined || value === wantedValues.get(target) ? [] : [`${target}: ${value}`];
    });
    const actionText = `Filled ${outcomes.length - failedOutcomes.length} of ${fields.length} fields`;
    const act = outcomes.length > 0 ? { ...lastOutcome, doneSteps: lastOutcome.doneSteps ?? 0 } : lastOutcome;
    return await this.#pageActions.describe(call, actionText, act, { sentences, content });
  }

  async selectOption(call: BrowserCall): Promise<BrowserResult> {
    const target = requireText(call.args, 'target');
    const values = readTexts(call.args, 'values') ?? [];
    const act = await this.#runInRefFrame(call, target, (frame) =>
      this.#trustedInput.run(call, frame, {
        name: 'select',
        args: { ...readActionOptions(call), target, values },
        isTrusted: true,
      }),
    );
    const chosen = act.result?.chosen.map((label) => JSON.stringify(label)).join(', ');
    const content = chosen === undefined ? [] : [`chosen: ${chosen === '' ? 'nothing' : chosen}`];
    const isShown = act.result?.shown ?? true;
    const actionText = isShown ? `Selected options of ${target}` : `Tried to select options of ${target}`;
    const sentences = isShown ? [] : ['The page does not show all options as chosen. Check them with a snapshot.'];
    return await this.#pageActions.describe(call, actionText, act, { sentences, content });
  }

  async hover(call: BrowserCall): Promise<BrowserResult> {
    const target = requireText(call.args, 'target');
    const act = await this.#runInRefFrame(call, target, (frame) =>
      this.#trustedInput.run(call, frame, {
        name: 'hover',
        args: { ...readActionOptions(call), target },
        isTrusted: true,
      }),
    );
    return await this.#pageActions.describe(call, `Moved the pointer over ${target}`, act);
  }

  async drag(call: BrowserCall): Promise<BrowserResult> {
    const startTarget = requireText(call.args, 'startTarget');
    const endTarget = readText(call.args, 'endTarget');
    if (endTarget === undefined) return await this.#dragByOffset(call, startTarget);
    const [start, end] = await Promise.all([
      this.#frames.findFrameByRef(call, startTarget),
      this.#frames.findFrameByRef(call, endTarget),
    ]);
    const options = { ...readActionOptions(call), startTarget, endTarget };
    const act = await this.#runInRefFrame(call, startTarget, (frame) =>
      start.documentId === end.documentId
        ? this.#trustedInput.run(call, frame, { name: 'drag', args: options, isTrusted: true })
        : this.#trustedInput.dragBetween(call, [start, end], options),
    );
    return await this.#pageActions.describe(call, `Dragged ${startTarget} to ${endTarget}`, act);
  }

  async #dragByOffset(call: BrowserCall, startTarget: string): Promise<BrowserResult> {
    const { x = 0, y = 0 } = Object(call.args.offset);
    if (typeof x !== 'number' || typeof y !== 'number' || (x === 0 && y === 0))
      throw makeCallFailure('invalid_arguments', 'browser_drag needs endTarget, or an offset such as {"x":40,"y":0}');
    const args = { ...readActionOptions(call), startTarget, offset: { x, y } };
    const act = await this.#runInRefFrame(call, startTarget, (frame) =>
      this.#trustedInput.run(call, frame, { name: 'drag', args, isTrusted: true }),
    );
    return await this.#pageActions.describe(call, `Dragged ${startTarget} by ${x}, ${y}`, act);
  }

  async pressKey(call: BrowserCall): Promise<BrowserResult> {
    const target = readText(call.args, 'target');
    const key = requireText(call.args, 'key');
    const options = { ...readActionOptions(call), key, ...(target === undefined ? {} : { target }) };
    const act = await this.#runInRefFrame(call, target, (frame) =>
      this.#trustedInput.run(call, frame, { name: 'press', args: options, isTrusted: true }),
    );
    return await this.#pageActions.describe(call, `Pressed ${key}`, act);
  }

  async scroll(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const target = readText(args, 'target');
    const direction = readChoice(args, 'direction', directions);
    const scrollAmount = readNumber(args, 'amount');
    if (target === undefined && direction === undefined)
      throw makeCallFailure('invalid_arguments', 'browser_scroll needs a target, a direction, or both');
    const options: ScrollArguments = {
      ...readActionOptions(call),
      ...(target === undefined ? {} : { target }),
      ...(direction === undefined ? {} : { direction }),
      ...(scrollAmount === undefined ? {} : { amount: scrollAmount }),
    };
    const act = await this.#runInRefFrame(call, target, (frame) => this.#frames.run(call, frame, 'scroll', options));
    const sentences: string[] = [];
    if (act.result) {
      const { position, size, visible } = act.result;
      const [x, y] = [Math.round(position.x), Math.round(position.y)];
      sentences.push(
        `Position ${x}, ${y} of ${size.width} x ${size.height}; ${visible.width} x ${visible.height} is in view.`,
      );
    }
    return await this.#pageActions.describe(call, 'Scrolled', act, { sentences });
  }

  async upload(call: BrowserCall): Promise<BrowserResult> {
    const target = readText(call.args, 'target');
    const files = readFiles(call.args.files);
    const options = { ...readActionOptions(call), files, ...(target === undefined ? {} : { target }) };
    const act = await this.#runInRefFrame(call, target, (frame) =>
      this.#trustedInput.run(call, frame, { name: 'upload', args: options, isTrusted: false }),
    );
    const sentences = act.result
      ? [`The page received them by ${act.result.by === 'drop' ? 'a drop' : 'a file field'}.`]
      : [];
    const content = act.result?.files.map(({ name, bytes }) => `${name}: ${bytes} bytes`) ?? [];
    const actionText = `Uploaded ${files.length} ${files.length === 1 ? 'file' : 'files'}`;
    return await this.#pageActions.describe(call, actionText, act, { sentences, content });
  }

  /** Without a ref, an action runs in the frame of the last action in the document. */
  async #runInRefFrame<R extends PageActionResult>(
    call: BrowserCall,
    ref: string | undefined,
    operation: (frame: FrameTarget) => Promise<R>,
  ): Promise<ActionOutcome<R>> {
    const frame =
      ref === undefined ? await this.#findLastActionFrame(call) : await this.#frames.findFrameByRef(call, ref);
    return await this.#runInFrame(call, frame, () => operation(frame));
  }

  async #runInFrame<R extends PageActionResult>(
    call: BrowserCall,
    frame: FrameTarget,
    operation: () => Promise<R>,
  ): Promise<ActionOutcome<R>> {
    const act = await this.#pageActions.run(call, frame, operation);
    if (call.documentId !== '') {
      for (const [document, { tabId }] of this.#lastActionFrames)
        if (tabId === call.tabId) this.#lastActionFrames.delete(document);
      if (act.result) this.#lastActionFrames.set(call.documentId, frame);
    }
    return act;
  }

  /** If the frame of the last action no longer exists, #findLastActionFrame returns the top frame. */
  async #findLastActionFrame(call: BrowserCall): Promise<FrameTarget> {
    const lastFrame = this.#lastActionFrames.get(call.documentId);
    if (!lastFrame || lastFrame.frameId === 0) return await this.#frames.top(call);
    const frames = await this.#frames.list(call);
    return frames.find((frame) => frame.documentId === lastFrame.documentId) ?? (await this.#frames.top(call));
  }
}

/** If the agent requests a full snapshot, the worker takes the snapshot of all frames after the action. */
function readActionOptions({ args }: BrowserCall): ActionArguments {
  const snapshot = readChoice(args, 'snapshot', ['diff', 'none', 'full']) ?? 'diff';
  return { snapshot: snapshot === 'diff' ? 'diff' : 'none', secrets: readApprovedSecretKinds(args) };
}

/** The server adds SecretsArgumentName to calls to pass the kinds of secret fields that the user has approved. */
const SecretsArgumentName = '_secrets';
const secretKinds: readonly SecretKind[] = ['password', 'card', 'code'];

function readApprovedSecretKinds(args: BrowserCall['args']): SecretKind[] {
  const approvedKinds = readTexts(args, SecretsArgumentName) ?? [];
  return secretKinds.filter((kind) => approvedKinds.includes(kind));
}

function toModifier(text: string): Modifier {
  const modifier = modifierNames.find((name) => name === text);
  if (modifier) return modifier;
  throw makeCallFailure('invalid_arguments', `the argument modifiers allows ${modifierNames.join(', ')}`);
}

function describeValue(result: TypeResult | undefined): { sentences: string[]; content: string[] } {
  if (!result) return { sentences: [], content: [] };
  const sentences = result.exact
    ? []
    : ['The field does not contain exactly this text: the page changed or rejected some.'];
  return { sentences, content: result.value === undefined ? [] : [`value: ${JSON.stringify(result.value)}`] };
}

function describePageText({ target, error }: FillOutcome): string {
  return error?.pageText === undefined ? '' : `${target}: ${error.pageText}`;
}

function describeFailure({ target, error }: FillOutcome): string {
  return `${target}: ${error?.message ?? 'the page rejected the value'}`;
}

function readFields(value: unknown): FillField[] {
  const problem = 'the argument fields must be a list of objects with target and value';
  if (!Array.isArray(value)) throw makeCallFailure('invalid_arguments', problem);
  return value.map((item: unknown): FillField => {
    const { target, value: fieldValue } = isRecord(item) ? item : {};
    if (typeof target !== 'string') throw makeCallFailure('invalid_arguments', problem);
    if (typeof fieldValue === 'string' || typeof fieldValue === 'boolean') return { target, value: fieldValue };
    if (typeof fieldValue === 'number') return { target, value: String(fieldValue) };
    const values = readTexts({ value: fieldValue }, 'value');
    if (values === undefined) throw makeCallFailure('invalid_arguments', problem);
    return { target, value: values };
  });
}

function readFiles(value: unknown): UploadFile[] {
  const problem = 'the server sent no files for the upload';
  if (!Array.isArray(value) || value.length === 0) throw makeCallFailure('invalid_arguments', problem);
  return value.map((item: unknown): UploadFile => {
    const { name, mimeType = '', data } = isRecord(item) ? item : {};
    if (typeof name !== 'string' || typeof mimeType !== 'string' || typeof data !== 'string')
      throw makeCallFailure('invalid_arguments', problem);
    return { name, type: mimeType, base64: data };
  });
}
