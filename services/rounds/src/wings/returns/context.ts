import type { RoundsContext } from '../../context.ts'
import type { AlarmRule } from './storage/return-document.ts'
import type { ReturnsStore } from './storage/returns-store.ts'

export type ReturnsContext = Pick<RoundsContext, 'games' | 'cursors' | 'audit' | 'clock' | 'logger'> & {
  readonly returns: ReturnsStore
  readonly rule: AlarmRule
}
