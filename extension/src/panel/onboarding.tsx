import type { ComponentChildren, VNode } from 'preact';
import { type ChecklistFacts, type ChecklistStep, listSteps } from './checklist.ts';
import { ErrorText } from './choice.tsx';
import { CopyCommand } from './copy-command.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';

export interface OnboardingProps extends ChecklistFacts {
  readonly serverProblem: ComponentChildren;
  readonly browserProblem: ComponentChildren;
  /**
   * hideChecklist closes the setup checklist. hideChecklist is undefined unless the user has reopened the checklist
   * after the first call.
   */
  readonly hideChecklist?: (() => void) | undefined;
  showPlugins(): void;
  readonly sendAction: SendAction;
}

/** Onboarding shows the setup checklist until the first call has succeeded. */
export function Onboarding(onboardingProps: OnboardingProps): VNode {
  const { serverProblem, browserProblem, hideChecklist, showPlugins, plugins, sendAction } = onboardingProps;
  const checklistSteps = listSteps(onboardingProps);
  const doneCount = checklistSteps.filter((checklistStep) => checklistStep.isDone).length;
  const nextStep = checklistSteps.find((checklistStep) => !checklistStep.isDone);
  const stepContents: Partial<Record<ChecklistStep['id'], ComponentChildren>> = {
    server: serverProblem,
    browser: browserProblem,
    tools: <ToolActions hasPlugins={plugins.length > 0} showPlugins={showPlugins} sendAction={sendAction} />,
  };
  return (
    <section aria-labelledby="onboarding" class="onboarding">
      <div class="title-line">
        <h2 id="onboarding">
          Get started <span class="count">{`${doneCount} of ${checklistSteps.length} done`}</span>
        </h2>
        {hideChecklist && (
          <button type="button" onClick={hideChecklist}>
            Hide
          </button>
        )}
      </div>
      <ol>
        {checklistSteps.map((checklistStep) => (
          <StepItem key={checklistStep.id} checklistStep={checklistStep} isNextStep={checklistStep === nextStep}>
            {stepContents[checklistStep.id]}
          </StepItem>
        ))}
      </ol>
    </section>
  );
}

interface StepItemProps {
  readonly checklistStep: ChecklistStep;
  readonly isNextStep: boolean;
  readonly children: ComponentChildren;
}

function StepItem({
  checklistStep: { title, isDone, text: stepText, copyTexts },
  isNextStep,
  children,
}: StepItemProps): VNode {
  return (
    <li
      class={isDone ? 'done' : isNextStep ? 'next' : 'later'}
      {...(isNextStep ? { 'aria-current': 'step' as const } : {})}
    >
      <span class="mark" aria-hidden="true" />
      <div>
        <h3>
          {title}
          <span class="unseen">{isDone ? ': done' : ': not done'}</span>
        </h3>
        {stepText && <p>{stepText}</p>}
        {!isDone && children}
        {copyTexts.map((copyItem) => (
          <CopyCommand key={copyItem.label} command={copyItem.text} label={copyItem.label} />
        ))}
      </div>
    </li>
  );
}

interface ToolActionsProps {
  readonly hasPlugins: boolean;
  showPlugins(): void;
  readonly sendAction: SendAction;
}

function ToolActions({ hasPlugins, showPlugins, sendAction }: ToolActionsProps): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  return (
    <>
      <div class="answers">
        <button
          type="button"
          class="yes"
          aria-disabled={isBusy}
          onClick={() => void runAction({ op: 'browserTools', params: { on: true } })}
        >
          Turn on browser tools
        </button>
        {hasPlugins && (
          <button type="button" onClick={showPlugins}>
            Review plugins
          </button>
        )}
      </div>
      <ErrorText errorText={error} />
    </>
  );
}
