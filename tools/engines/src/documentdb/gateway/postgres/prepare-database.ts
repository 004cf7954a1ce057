import type { PostgresConnection } from './postgres-connection.ts'

/** Any number: the advisory lock that one gateway holds as long as it serves this database. */
const gatewayLock = '7277364013'
const takeoverMsMax = 10_000
const takeoverPollMs = 50

/**
 * The gateway's own memory, in the same transactions as the writes it remembers: the last retryable write or
 * committed transaction of each session. That makes a batch, not only a single write, exactly once when a
 * driver repeats it. PB001: the same number is being written by another connection; PB002: the session is
 * past this number.
 */
const schema = `
create schema if not exists pitboss_gateway;
create table if not exists pitboss_gateway.sessions (
  session bytea primary key,
  txn_number bigint not null,
  committed boolean,
  result documentdb_core.bson,
  success boolean,
  used_at timestamptz not null default now()
) with (fillfactor = 40);
create or replace function pitboss_gateway.remember_commit(id bytea, number bigint) returns void language plpgsql as $$
begin
  insert into pitboss_gateway.sessions as s (session, txn_number, committed) values (id, number, true)
  on conflict (session) do update set txn_number = excluded.txn_number, committed = true, result = null,
    success = null, used_at = now()
  where s.txn_number < excluded.txn_number;
  if not found then raise exception 'the number was used meanwhile' using errcode = 'PB001'; end if;
end $$;
create or replace function pitboss_gateway.was_committed(id bytea, number bigint) returns boolean language plpgsql as $$
declare done boolean;
begin
  insert into pitboss_gateway.sessions as s (session, txn_number, committed) values (id, number, false)
  on conflict (session) do update set txn_number = excluded.txn_number, committed = false, result = null,
    success = null, used_at = now()
  where s.txn_number < excluded.txn_number;
  select s.committed into done from pitboss_gateway.sessions s where s.session = id and s.txn_number = number;
  return coalesce(done, false);
end $$;
`

/**
 * Indexes are built at once, so nothing is ever queued for the engine's two jobs that look for builds: each
 * starts a process every two seconds.
 */
const endIndexJobs = `
update cron.job set active = false
where active and command like '%documentdb_api_internal.build_index_concurrently%';
`

/** Inserts into two collections in one transaction, into the second only when the first took everything. */
const insertInTurn = `
create or replace function pitboss_gateway.insert_in_turn(
  db text, command documentdb_core.bson, documents documentdb_core.bsonsequence,
  db_2 text, command_2 documentdb_core.bson, documents_2 documentdb_core.bsonsequence,
  out p_result documentdb_core.bson, out p_success boolean,
  out p_result_2 documentdb_core.bson, out p_success_2 boolean) language plpgsql as $$
declare answer record;
begin
  answer := documentdb_api.insert(db, command, documents);
  p_result := answer.p_result;
  p_success := answer.p_success;
  if not p_success then return; end if;
  answer := documentdb_api.insert(db_2, command_2, documents_2);
  p_result_2 := answer.p_result;
  p_success_2 := answer.p_success;
end $$;`

/** The writes that get a function of their own, and whether documents are sent beside the command. */
const writes = [
  { name: 'insert', documents: true },
  { name: 'update', documents: true },
  { name: 'delete', documents: true },
  { name: 'find_and_modify', documents: false },
] as const

/**
 * `<name>_once`: the answer given before for this number, or the write and its memory in one transaction. A
 * single statement that failed wrote nothing and is not remembered: the gateway may want to try it again.
 */
function writeOnce({ name, documents }: (typeof writes)[number]): string {
  return `
create or replace function pitboss_gateway.${name}_once(db text, command documentdb_core.bson,
  ${documents ? 'documents documentdb_core.bsonsequence,' : ''} id bytea, number bigint, batch boolean,
  out p_result documentdb_core.bson, out p_success boolean) language plpgsql as $$
declare last bigint; answer record;
begin
  select s.txn_number, s.result, s.success into last, p_result, p_success
    from pitboss_gateway.sessions s where s.session = id;
  if last = number then return; end if;
  if last > number then raise exception 'the session is past number %', number using errcode = 'PB002'; end if;
  answer := documentdb_api.${name}(db, command${documents ? ', documents' : ''});
  p_result := answer.p_result;
  p_success := answer.p_success;
  if not p_success and not batch then return; end if;
  insert into pitboss_gateway.sessions as s (session, txn_number, result, success)
  values (id, number, p_result, p_success)
  on conflict (session) do update set txn_number = excluded.txn_number, committed = null,
    result = excluded.result, success = excluded.success, used_at = now()
  where s.txn_number < excluded.txn_number;
  if not found then raise exception 'the number was used meanwhile' using errcode = 'PB001'; end if;
end $$;`
}

/**
 * Makes the database the gateway's own on a connection that it keeps for this: takes the lock, ends what an
 * earlier gateway left running, so that nothing of it can still take effect, ends the engine's jobs that
 * build indexes, and creates the gateway's functions.
 * @throws Error when another gateway serves this database.
 */
export async function prepareDatabase(
  connection: PostgresConnection,
  applicationName: string,
): Promise<void> {
  const deadlineMs = performance.now() + takeoverMsMax
  while (!(await takeOver(connection, applicationName))) {
    if (performance.now() > deadlineMs) throw new Error('another gateway serves this database')
    await new Promise((resolve) => setTimeout(resolve, takeoverPollMs))
  }
  await connection.simple([schema, endIndexJobs, ...writes.map(writeOnce), insertInTurn].join('\n'))
}

async function takeOver(connection: PostgresConnection, applicationName: string): Promise<boolean> {
  const [[locked] = []] = await connection.query(`select pg_try_advisory_lock(${gatewayLock})`)
  if (locked?.readUInt8(0) !== 1) return false
  const others = await connection.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()',
    [applicationName],
  )
  return others.length === 0
}

/** Forgets sessions that drivers have given up: they use one for half an hour at most. */
export const forgetSessions =
  "delete from pitboss_gateway.sessions where used_at < now() - interval '40 minutes'"
