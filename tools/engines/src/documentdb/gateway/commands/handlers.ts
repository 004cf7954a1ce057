import {
  aggregate,
  count,
  distinct,
  find,
  getMore,
  killCursors,
  listCollections,
  listIndexes,
} from './read-commands.ts'
import {
  collMod,
  collStats,
  create,
  dbStats,
  drop,
  dropDatabase,
  listDatabases,
  renameCollection,
  validate,
} from './collection-commands.ts'
import type { Handler } from './command.ts'
import * as diagnostic from './diagnostic-commands.ts'
import { explain } from './explain.ts'
import { hello } from './hello.ts'
import { createIndexes, dropIndexes } from './index-commands.ts'
import { abortTransaction, commitTransaction, endSessions, refreshSessions } from './session-commands.ts'
import { write } from './write-commands.ts'

/** Every command that is served, by its name; `listCommands` tells them. */
export const handlers = new Map<string, Handler>([
  ['hello', hello],
  ['isMaster', hello],
  ['ismaster', hello],
  ['insert', write],
  ['update', write],
  ['delete', write],
  ['findAndModify', write],
  ['find', find],
  ['aggregate', aggregate],
  ['count', count],
  ['distinct', distinct],
  ['getMore', getMore],
  ['killCursors', killCursors],
  ['explain', explain],
  ['commitTransaction', commitTransaction],
  ['abortTransaction', abortTransaction],
  ['endSessions', endSessions],
  ['killSessions', endSessions],
  ['startSession', refreshSessions],
  ['refreshSessions', refreshSessions],
  ['create', create],
  ['drop', drop],
  ['dropDatabase', dropDatabase],
  ['collMod', collMod],
  ['renameCollection', renameCollection],
  ['listCollections', listCollections],
  ['listDatabases', listDatabases],
  ['createIndexes', createIndexes],
  ['dropIndexes', dropIndexes],
  ['listIndexes', listIndexes],
  ['collStats', collStats],
  ['dbStats', dbStats],
  ['validate', validate],
  ['ping', diagnostic.ping],
  ['buildInfo', diagnostic.buildInfo],
  ['serverStatus', diagnostic.serverStatus],
  ['hostInfo', diagnostic.hostInfo],
  ['connectionStatus', diagnostic.connectionStatus],
  ['whatsmyuri', diagnostic.whatsmyuri],
  ['getLog', diagnostic.getLog],
  ['getCmdLineOpts', diagnostic.getCmdLineOpts],
  ['getParameter', diagnostic.getParameter],
  ['getDefaultRWConcern', diagnostic.getDefaultRWConcern],
  ['replSetGetStatus', diagnostic.replSetGetStatus],
  ['currentOp', diagnostic.currentOp],
  ['killOp', diagnostic.killOp],
])

handlers.set('listCommands', () => ({
  commands: Object.fromEntries([...handlers.keys()].map((name) => [name, { help: '' }])),
  ok: 1,
}))

/** Spellings that older shells and drivers use. */
export const aliases = new Map([
  ['findandmodify', 'findAndModify'],
  ['buildinfo', 'buildInfo'],
  ['collstats', 'collStats'],
  ['dbstats', 'dbStats'],
  ['deleteIndexes', 'dropIndexes'],
])
