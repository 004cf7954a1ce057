import { createHash } from 'node:crypto'
import { idCharacters } from '@pitboss/contracts/id-characters'
import type { OpsReturnStream, ReturnAlarm, ReturnStream } from '@pitboss/contracts/objects/returns'
import { operatorHandleOf } from '@pitboss/contracts/primitives'
import { type Stream, viewOf } from '@pitboss/fairness/returns/return-watch'
import { formatAmount } from '@pitboss/money/amount'
import { keptStream, type Point, sumOf, thresholdOf } from '../rules/watched-streams.ts'
import type { AlarmDocument, StreamDocument } from '../storage/returns-store.ts'

const [sharePlaces, evidencePlaces, scorePlaces] = [6, 4, 4]

/** The public record of a stream. Source: docs/contract.md, section 11, "Returns". */
export function presentReturn(document: StreamDocument): ReturnStream {
  const kept = keptStream(document)
  const view = viewOf(kept)
  const { currency, crossing } = document
  const isPaid = currency !== null && kept.staked > 0n
  return {
    stream_id: returnStreamId(document),
    environment: document.scope.endsWith('/LIVE') ? 'LIVE' : 'SANDBOX',
    currency,
    game: document.game,
    game_version: document.rules,
    shape: document.shape,
    trials: view.trials,
    expected: shareText(view.rtp),
    ...bandOf(view),
    point_noticed_within: Number.isSafeInteger(view.pointNoticedWithin) ? view.pointNoticedWithin : null,
    stakes: isPaid ? formatAmount(kept.staked, currency) : null,
    payouts: isPaid ? formatAmount(kept.paid, currency) : null,
    evidence: evidenceText(kept, document.log),
    alarm: crossing && { at: crossing.at.toISOString(), trials: sumOf(crossing.counts) },
    since: document.startedAt.toISOString(),
    updated_at: document.updatedAt.toISOString(),
    points: kept.points.map((point) => presentPoint(kept, point)),
  }
}

export function presentOpsReturn(document: StreamDocument): OpsReturnStream {
  const [account = ''] = document.scope.split('/')
  return { operator_id: account === '*' ? null : operatorHandleOf(account), ...presentReturn(document) }
}

/** The id of a stream follows from what it counts, and from how often it began. */
function returnStreamId({ _id, generation }: Pick<StreamDocument, '_id' | 'generation'>): string {
  const hash = createHash('sha256').update(`${_id}|${generation}`).digest()
  return `rst_${idCharacters(hash, 26)}`
}

/** The id of a stream's alarm: it can have one until it begins again. */
export function returnAlarmId(stream: Pick<StreamDocument, '_id' | 'generation'>): string {
  return returnStreamId(stream).replace('rst_', 'ral_')
}

/** The record of an alarm with its evidence. Source: docs/contract.md, section 10. */
export function presentAlarm(alarm: AlarmDocument): ReturnAlarm {
  const { stream } = alarm
  const { crossing } = stream
  return {
    alarm_id: alarm._id,
    status: alarm.open ? 'OPEN' : 'LIFTED',
    raised_at: alarm.raisedAt.toISOString(),
    rule: alarm.rule,
    score: (crossing?.log ?? stream.log).toFixed(scorePlaces),
    threshold: thresholdOf(keptStream(stream)).toFixed(scorePlaces),
    position: stream.position,
    counts: [...(crossing?.counts ?? stream.counts)],
    stream: presentOpsReturn(stream),
    lifted_at: alarm.liftedAt?.toISOString() ?? null,
    lifted_by: alarm.liftedBy,
    lift_reason: alarm.liftReason,
  }
}

function presentPoint(stream: Stream, { trials, wins, log, at }: Point): ReturnStream['points'][number] {
  const evidence = { counts: [wins, trials - wins], total: trials, log }
  const band = stream.win === null ? noBand : bandOf(viewOf({ ...stream, evidence }))
  return { at: at.toISOString(), trials, ...band, evidence: evidenceText(stream, log) }
}

const noBand = { seen: null, low: null, high: null }

function bandOf({ seen, low, high }: ReturnType<typeof viewOf>) {
  return { seen: shareText(seen), low: shareText(low), high: shareText(high) }
}

function evidenceText(stream: Stream, log: number): string {
  return (log / thresholdOf(stream)).toFixed(evidencePlaces)
}

function shareText(value: number | null): string | null {
  return value === null ? null : value.toFixed(sharePlaces)
}
