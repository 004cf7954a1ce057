import { eventEnvelopeSchema, eventType, webhookTestSchema } from '@pitboss/contracts/objects/event'
import {
  walletAnswerSchema,
  walletBalanceCallSchema,
  walletMovementCallSchema,
} from '@pitboss/contracts/objects/wallet-call'
import type { z } from 'zod'
import { eventDescriptions, exampleOfEvent, exampleOfTest } from './event-examples.ts'
import type { SchemaWriter } from './to-json-schema.ts'
import { eventComponent } from './variants.ts'

/** What the service sends: events to webhook endpoints, and calls to the operator's wallet. */
export function outgoingCalls(schemas: SchemaWriter): Record<string, unknown> {
  schemas.write(eventEnvelopeSchema, 'output')
  const events = eventType.options.map((type) => {
    const schema = { $ref: `#/components/schemas/${eventComponent(type)}` }
    return [type, delivery(type, eventDescriptions[type], { schema, example: exampleOfEvent(type) })] as const
  })
  const test = { schema: schemas.write(webhookTestSchema, 'output'), example: exampleOfTest() }
  const calls = walletCalls.map((call) => [`wallet.${call.operation}`, walletCall(call, schemas)] as const)
  return Object.fromEntries([
    ...events,
    ['webhook.test', delivery('webhook.test', 'Somebody tests the endpoint; nothing has happened.', test)],
    ...calls,
  ])
}

type Content = { readonly schema: unknown; readonly example: unknown }

/** Source: docs/contract.md, section 7. */
function delivery(type: string, description: string, content: Content): unknown {
  return {
    post: {
      operationId: `event_${type.replaceAll('.', '_')}`,
      summary: description,
      description: deliveryDescription,
      tags: ['events'],
      security: [],
      parameters: [
        header(
          'x-svc-event-id',
          'Id of the event, equal in every attempt.',
          text('evt_01jd3v8x5q7r2m4n6p8s0t1w3y'),
        ),
        header('x-svc-event-type', 'Name of the event.', {
          schema: { type: 'string', const: type },
          example: type,
        }),
        header('x-svc-timestamp', 'Unix time of this attempt in seconds.', timestamp),
        header(
          'x-svc-signature',
          '`v1=` and the hex HMAC-SHA256 of timestamp, full stop and raw body, by the endpoint’s secret. Two, separated by a space, while a secret is replaced: either may fit.',
          {
            schema: { type: 'string', pattern: '^v1=[0-9a-f]{64}( v1=[0-9a-f]{64})*$' },
            example: `v1=${exampleHex}`,
          },
        ),
        header('x-svc-delivery-attempt', 'Number of this attempt, from 1.', {
          schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
          example: '1',
        }),
      ],
      requestBody: { required: true, content: { 'application/json': content } },
      responses: {
        '2XX': { description: 'Stored; it is not sent again.' },
        '410': { description: 'The endpoint is gone: it is paused, and what waits for it is held.' },
        '4XX': { description: 'Not taken; it is sent again later. 429 may say when by `Retry-After`.' },
        '5XX': { description: 'Not taken; it is sent again later. 503 may say when by `Retry-After`.' },
      },
    },
  }
}

const deliveryDescription =
  'Verify the signature over the raw body, store the event by its id, then answer. Order is not guaranteed, and an event may come twice.'

type WalletCall = {
  readonly operation: 'balance' | 'debit' | 'credit' | 'rollback'
  readonly summary: string
  readonly description: string
  readonly body: z.ZodType
  readonly example: Readonly<Record<string, unknown>>
}

const gameId = '0193a5c4-9d3e-7a2b-8c1d-4e5f60718293'
const ulid = '01jd3v8x5q7r2m4n6p8s0t1w3y'
const movement = {
  ...{ transactionId: `bet_${ulid}`, reference: `txn_${ulid}`, type: 'BET' },
  ...{ roundId: gameId, gameId, game: 'dice', sessionId: `ses_${ulid}`, playerId: 'player-1' },
  ...{ currency: 'EUR', amount: '10.00', freeBet: false, roundClosed: false },
  occurredAt: '2026-11-20T09:30:00.000Z',
} as const

/** Source: docs/contract.md, section 6. */
const walletCalls: readonly WalletCall[] = [
  {
    operation: 'balance',
    summary: 'The balance of a player',
    description: '`POST {url}/balance`. Moves nothing.',
    body: walletBalanceCallSchema,
    example: { playerId: 'player-1', currency: 'EUR', sessionId: `ses_${ulid}`, gameId },
  },
  {
    operation: 'debit',
    summary: 'Take a stake',
    description:
      '`POST {url}/debit`. One `transactionId` is one movement: answer `DUPLICATE` to its repeat, and refuse it once it was rolled back.',
    body: walletMovementCallSchema,
    example: movement,
  },
  {
    operation: 'credit',
    summary: 'Pay a win, or give a stake back',
    description:
      '`POST {url}/credit`. It is repeated until you acknowledge it; a session that has ended, or a blocked player, is no reason to refuse it.',
    body: walletMovementCallSchema,
    example: { ...movement, transactionId: `win_${ulid}`, type: 'WIN', amount: '19.80', roundClosed: true },
  },
  {
    operation: 'rollback',
    summary: 'Void a movement, whether it has arrived or not',
    description:
      '`POST {url}/rollback`. Give back what `referenceTransactionId` has moved. If you do not know it, answer `TRANSACTION_NOT_FOUND` and refuse it should it arrive later.',
    body: walletMovementCallSchema,
    example: {
      ...{ ...movement, transactionId: `rbk_${ulid}`, type: 'ROLLBACK', roundClosed: true },
      referenceTransactionId: `bet_${ulid}`,
    },
  },
]

function walletCall(
  { operation, summary, description, body, example }: WalletCall,
  schemas: SchemaWriter,
): unknown {
  const answer = schemas.write(walletAnswerSchema, 'output')
  const accepted = { status: 'OK', balance: '90.00', currency: 'EUR' }
  const ok = operation === 'balance' ? accepted : { ...accepted, transactionId: 'W-778812' }
  const refused = {
    status: 'INSUFFICIENT_FUNDS',
    message: 'The balance is below the stake.',
    balance: '4.00',
  }
  return {
    post: {
      operationId: `wallet_${operation}`,
      summary,
      description,
      tags: ['wallet'],
      security: [],
      parameters: [
        header('x-timestamp', 'Unix time of this call in seconds.', timestamp),
        header(
          'x-signature',
          'The hex HMAC-SHA256 of timestamp, full stop and raw body, by the wallet’s secret. Two, separated by a space, while a secret is replaced: either may fit.',
          { schema: { type: 'string', pattern: '^[0-9a-f]{64}( [0-9a-f]{64})*$' }, example: exampleHex },
        ),
        header('x-request-id', 'Names the call in both logs.', text('req_01jd3v8x5q7r2m4n6p8s0t1w3y')),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemas.write(body, 'output'), example } },
      },
      responses: {
        '200': {
          description: 'Done, or done before (`DUPLICATE`); any other code refuses.',
          content: { 'application/json': { schema: answer, example: ok } },
        },
        '4XX': {
          description:
            'Refused: nothing moved, and nothing will under this id. 429, and 408, 409, 425 and 499 without a code of the contract, are no clear answer.',
          content: { 'application/json': { schema: answer, example: refused } },
        },
        '5XX': { description: 'No clear answer: it may have moved money, and is settled later.' },
      },
    },
  }
}

const exampleHex = '5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd'
const timestamp = { schema: { type: 'string', pattern: '^[0-9]{10}$' }, example: '1795166400' }

function text(example: string): { schema: unknown; example: string } {
  return { schema: { type: 'string' }, example }
}

function header(name: string, description: string, shape: { schema: unknown; example: unknown }): unknown {
  return { name, in: 'header', required: true, description, ...shape }
}
