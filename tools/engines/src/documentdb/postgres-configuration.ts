/** PostgreSQL's settings; each of them was measured or is needed (why: docs/engines.md). */
export function postgresConfiguration(socketFolder: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  const settings = {
    listen_addresses: "''",
    unix_socket_directories: quoted(socketFolder),
    unix_socket_permissions: '0700',
    max_connections: '120',
    shared_buffers: "'64MB'",
    // bounds what must be replayed after a crash, and the disk
    max_wal_size: "'256MB'",
    timezone: "'GMT'",
    log_timezone: "'GMT'",
    shared_preload_libraries: "'pg_cron,pg_documentdb_core,pg_documentdb,pg_documentdb_extended_rum'",
    'cron.database_name': "'postgres'",
    'cron.use_background_workers': 'on',
    'cron.log_run': 'off',
    'cron.log_statement': 'off',
    max_worker_processes: '16',
    'documentdb.localhost_connection_string': quoted(`host=${socketFolder}`),
    // without it no sort uses an index
    'documentdb.alternate_index_handler_name': "'extended_rum'",
    'documentdb.useFileBasedPersistedCursors': 'on',
    'documentdb_core.enableCollation': 'on',
    // an idle cursor dies after a minute otherwise
    'documentdb.defaultCursorExpiryTimeLimitSeconds': '600',
    enable_bitmapscan: 'off',
    autovacuum_naptime: "'5s'",
    // racing inserts of one unique key stall for seconds otherwise
    deadlock_timeout: "'10ms'",
    jit: 'off',
    log_min_messages: 'warning',
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}
