import { type OpenSpan, openSpan, recordedSpan } from '@pitboss/tracing/spans'
import type { CommandStartedEvent, MongoClient } from 'mongodb'

const writes: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'findAndModify', 'bulkWrite'])

/**
 * A span for each command that goes to the database below a recorded span: what it is and its collection,
 * never its values. A write whose connection breaks has an unknown outcome. The client must monitor its
 * commands.
 */
export function traceCommands(client: Pick<MongoClient, 'on'>): void {
  const atWork = new Map<number, OpenSpan>()

  client.on('commandStarted', (event) => {
    if (recordedSpan() === null) return
    const { databaseName, commandName } = event
    const collection = collectionOf(event)
    const span = openSpan(collection === null ? commandName : `${commandName} ${collection}`, {
      kind: 'client',
      attributes: {
        'db.system.name': 'mongodb',
        'db.namespace': databaseName,
        'db.operation.name': commandName,
        ...(collection === null ? {} : { 'db.collection.name': collection }),
      },
    })
    atWork.set(event.requestId, span)
  })
  client.on('commandSucceeded', ({ requestId }) => end(requestId))
  client.on('commandFailed', ({ requestId, commandName, failure }) => {
    const span = atWork.get(requestId)
    span?.fail(failure.name)
    if (writes.has(commandName) && failure.name.startsWith('MongoNetwork')) span?.unknown()
    end(requestId)
  })

  function end(requestId: number): void {
    atWork.get(requestId)?.end()
    atWork.delete(requestId)
  }
}

function collectionOf({ command, commandName }: CommandStartedEvent): string | null {
  const name: unknown = command[commandName]
  if (commandName !== 'bulkWrite') return typeof name === 'string' ? name : null
  return command.nsInfo.map(({ ns }: { ns: string }) => ns.slice(ns.indexOf('.') + 1)).join(' ')
}
