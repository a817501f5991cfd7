import { useState } from 'preact/hooks';

/** PermissionChange is a request to Chrome about a permission. */
export interface PermissionChange {
  /** error is why the last request failed; empty if it did not. */
  readonly error: string;
  /** change sends the request, and resolves with its error. The user must have clicked. */
  change(): Promise<{ error?: string }>;
}

/** usePermissionChange returns a request that Chrome grants or revokes a permission. send reports whether Chrome did. */
export function usePermissionChange(send: () => Promise<boolean>, verb: 'grant' | 'revoke'): PermissionChange {
  const [error, setError] = useState('');
  const change = async () => {
    setError('');
    const problem = await send().then(
      (isChanged) => (isChanged ? undefined : `Chrome did not ${verb} the permission.`),
      (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
    );
    if (problem === undefined) return {};
    setError(problem);
    return { error: problem };
  };
  return { error, change };
}
