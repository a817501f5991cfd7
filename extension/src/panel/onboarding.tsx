import type { ComponentChildren, VNode } from 'preact';
import { type ChecklistFacts, listSteps, type Step } from './checklist.ts';
import { ErrorText } from './choice.tsx';
import { CopyCommand } from './copy-command.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';

export interface OnboardingProps extends ChecklistFacts {
  readonly serverProblem: ComponentChildren;
  readonly browserProblem: ComponentChildren;
  /**
   * The field `hide` closes the setup checklist. `hide` is undefined unless the user has reopened the checklist after
   * the first call.
   */
  readonly hide?: (() => void) | undefined;
  showPlugins(): void;
  readonly act: SendAction;
}

/** Onboarding shows the setup checklist until the first call has succeeded. */
export function Onboarding(props: OnboardingProps): VNode {
  const { serverProblem, browserProblem, hide, showPlugins, plugins, act } = props;
  const steps = listSteps(props);
  const doneCount = steps.filter((step) => step.isDone).length;
  const nextStep = steps.find((step) => !step.isDone);
  const extras: Partial<Record<Step['id'], ComponentChildren>> = {
    server: serverProblem,
    browser: browserProblem,
    tools: <ToolActions hasPlugins={plugins.length > 0} showPlugins={showPlugins} act={act} />,
  };
  return (
    <section aria-labelledby="onboarding" class="onboarding">
      <div class="title-line">
        <h2 id="onboarding">
          Get started <span class="count">{`${doneCount} of ${steps.length} done`}</span>
        </h2>
        {hide && (
          <button type="button" onClick={hide}>
            Hide
          </button>
        )}
      </div>
      <ol>
        {steps.map((step) => (
          <StepItem key={step.id} step={step} isNext={step === nextStep}>
            {extras[step.id]}
          </StepItem>
        ))}
      </ol>
    </section>
  );
}

interface StepItemProps {
  readonly step: Step;
  readonly isNext: boolean;
  readonly children: ComponentChildren;
}

function StepItem({ step: { title, isDone, text, copies }, isNext, children }: StepItemProps): VNode {
  return (
    <li class={isDone ? 'done' : isNext ? 'next' : 'later'} {...(isNext ? { 'aria-current': 'step' as const } : {})}>
      <span class="mark" aria-hidden="true" />
      <div>
        <h3>
          {title}
          <span class="unseen">{isDone ? ': done' : ': not done'}</span>
        </h3>
        {text && <p>{text}</p>}
        {!isDone && children}
        {copies.map((copy) => (
          <CopyCommand key={copy.label} command={copy.text} label={copy.label} />
        ))}
      </div>
    </li>
  );
}

interface ToolActionsProps {
  readonly hasPlugins: boolean;
  showPlugins(): void;
  readonly act: SendAction;
}

function ToolActions({ hasPlugins, showPlugins, act }: ToolActionsProps): VNode {
  const { isBusy, error, run } = usePanelAction(act);
  return (
    <>
      <div class="answers">
        <button
          type="button"
          class="yes"
          aria-disabled={isBusy}
          onClick={() => void run({ op: 'browserTools', params: { on: true } })}
        >
          Turn on browser tools
        </button>
        {hasPlugins && (
          <button type="button" onClick={showPlugins}>
            Review plugins
          </button>
        )}
      </div>
      <ErrorText text={error} />
    </>
  );
}
