import type { FlagRule } from '@pitboss/contracts/objects/flag'

/** What each rule noticed, in words. */
export const flagTexts: Readonly<Record<FlagRule, string>> = {
  BIG_WIN: 'Big win',
  UNKNOWN_OUTCOMES_OF_PLAYER: "A player's movements without a clear outcome",
  UNKNOWN_OUTCOMES_OF_WALLET: "The wallet's movements without a clear outcome",
  BACK_AFTER_WIN: 'Money back after a win',
}
