import type { RoundsContext } from '../context.ts'

/**
 * Counts facts that wait, at most a batch, in each fold. A fact leaves its round only after every fold has it;
 * so it is safe beside another replica, and after a crash.
 * @returns how many rounds had one
 */
export async function foldFacts({ facts, hooks }: Pick<RoundsContext, 'facts' | 'hooks'>): Promise<number> {
  const waiting = await facts.read()
  for (const { fold } of hooks.folds) await fold(waiting)
  await facts.remove(waiting)
  return waiting.length
}
