import type { TailNotes } from '@pitboss/bus/tail-notes'
import type { AskApproval } from '@pitboss/bus/ask-approval'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { OutboundSettings } from '@pitboss/outbound/address-guard'
import type { Scope } from '@pitboss/contracts/caller'
import type { Cap } from '@pitboss/runtime/cap'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { FiguresStore } from '@pitboss/storage/figures-store'
import type { RewindStore } from '@pitboss/storage/rewind-store'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { DeliveryHistory } from './storage/delivery-history.ts'
import type { DeliveryStore } from './storage/delivery-store.ts'
import type { EndpointStore } from './storage/endpoint-store.ts'
import type { EventLog } from './storage/event-log.ts'
import type { LogTail } from './storage/log-tail.ts'
import type { RangeStore } from './storage/range-store.ts'
import type { ParkedStore } from './storage/parked-store.ts'
import type { SecretCipher } from './actions/create-endpoint.ts'
import type { RecordEvents } from './actions/record-events.ts'
import type { CallHandler } from '@pitboss/bus/serve-calls'
import type { Poll } from '@pitboss/runtime/poll'
import type * as wings from '@pitboss/storage/wing'
import type { PostWebhook } from './clients/post-webhook.ts'

export type WebhooksContext = {
  readonly db: Db
  readonly bus: Bus
  readonly events: EventLog
  readonly endpoints: EndpointStore
  /** The newest of them, which workers read. */
  readonly tail: LogTail
  /** What endpoints have passed of them, with what they accepted at once. */
  readonly ranges: RangeStore
  /** Deliveries that are documents of their own. */
  readonly deliveries: DeliveryStore
  /** All deliveries. */
  readonly history: DeliveryHistory
  readonly parked: ParkedStore
  readonly rewinds: RewindStore
  readonly figures: FiguresStore
  readonly audit: AuditOutbox
  readonly cursors: CursorCodec
  readonly secretCipher: SecretCipher
  readonly notes: TailNotes
  readonly clock: Clock
  readonly logger: Logger
  readonly newId: (prefix: string) => string
  /** 0 to 1. */
  readonly random: () => number
  /** Shortens the retry schedule in tests. */
  readonly scaleMs: (ms: number) => number
  /** Where endpoints may be; on this machine only in TEST. */
  readonly outbound: OutboundSettings
  readonly askApproval: AskApproval
  /** Bounds the endpoints of an account and environment. */
  readonly endpointsCap: Cap<Scope>
  /** Most endpoints of a scope that an event goes to. */
  readonly eventEndpointsMax: number
}

export type CallsContext = WebhooksContext & { readonly recordEvents: RecordEvents }

type WingGiven = {
  /** Milliseconds by which this process's clock is ahead of the database's. */
  readonly clockAheadMs: () => number
  readonly post: PostWebhook
  /** Most replays of an account under way at once. */
  readonly replaysMax: number
}

type WingOpen = { readonly calls: readonly CallHandler[]; readonly start?: () => Poll }

export type Wing = wings.Wing<WebhooksContext, WingGiven, WingOpen>
