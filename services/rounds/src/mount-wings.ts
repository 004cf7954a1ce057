import type { RoundsContext } from './context.ts'
import type { Hooks } from './hooks.ts'
import type { FactFold } from './storage/counted-entries.ts'
import type { OpenWing, Wing, WingGiven } from './wing.ts'

/** What happens where no wing acts. */
export const noHooks: Omit<Hooks, 'folds'> = {
  holdLimits: () => null,
  holdPace: () => null,
  beforeSession: async () => undefined,
  afterSession: async () => undefined,
  sessionFields: async () => ({}),
  playerData: { stop: async () => noData, limits: async () => noData },
}
const noData = { data: [], next: null }

/** Opens wings over the core, whose context gets their hooks. */
export function mountWings(
  core: Omit<RoundsContext, 'hooks'>,
  wings: readonly Wing[],
  given: WingGiven,
): { context: RoundsContext; open: readonly OpenWing[] } {
  const folds: FactFold[] = []
  const hooks: Hooks = { ...noHooks, folds }
  const context = { ...core, hooks }
  const open = wings.map((wing) => wing.open(context, given))
  for (const one of open) {
    Object.assign(hooks, one.hooks)
    if (one.fold !== undefined) folds.push(one.fold)
  }
  return { context, open }
}
