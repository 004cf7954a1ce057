import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { shareOfPlay, type YieldRule } from '../rules/share-of-play.ts'

export const yieldReasons = ['stream-full', 'recording-stopped', 'deliveries-late'] as const
export type YieldReason = (typeof yieldReasons)[number]

/** A stream that is full or not recorded is well again once somebody has repaired it. */
const stoppedRetryAfterS = 5
const lateRetryAfterS = 1

/** Creates the look before new play. Source: docs/contract.md, sections 7 and 11. */
export function createAdmitPlay({
  isStreamFull,
  isRecordingStopped,
  latenessOf,
  yields,
  random,
  noteRefused,
}: {
  isStreamFull: () => boolean
  isRecordingStopped: () => boolean
  /** By how many milliseconds the account's deliveries are late. */
  latenessOf: (account: string) => number
  yields: YieldRule
  /** 0 to 1. */
  random: () => number
  noteRefused: (reason: YieldReason) => void
}): (scope: Scope) => void {
  return function admitPlay({ operatorId }) {
    if (isStreamFull()) {
      noteRefused('stream-full')
      const message = 'New play is refused until there is room for its events; what is owed is settled.'
      throw new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: stoppedRetryAfterS })
    }
    if (isRecordingStopped()) {
      noteRefused('recording-stopped')
      const message = 'New play is refused until its events are recorded again; what is owed is settled.'
      throw new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: stoppedRetryAfterS })
    }
    if (random() < shareOfPlay(latenessOf(operatorId), yields)) return
    noteRefused('deliveries-late')
    const message = 'New play waits for deliveries to catch up; what is owed is settled.'
    throw new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: lateRetryAfterS })
  }
}
