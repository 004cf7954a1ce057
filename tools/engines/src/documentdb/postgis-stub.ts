const byteTypes = ['geometry', 'geography', 'box2d', 'gidx']

const supportFunctions = [
  'geometry_gist_union_2d(bytea, internal) RETURNS internal',
  'geometry_gist_decompress_2d(internal) RETURNS internal',
  'geometry_gist_penalty_2d(internal, internal, internal) RETURNS internal',
  'geometry_gist_picksplit_2d(internal, internal) RETURNS internal',
  'geometry_gist_same_2d(geom1 geometry, geom2 geometry, internal) RETURNS internal',
  'geography_gist_union(bytea, internal) RETURNS internal',
  'geography_gist_decompress(internal) RETURNS internal',
  'geography_gist_penalty(internal, internal, internal) RETURNS internal',
  'geography_gist_picksplit(internal, internal) RETURNS internal',
  'geography_gist_same(box2d, box2d, internal) RETURNS internal',
]

/**
 * DocumentDB declares PostGIS as a dependency for its geographic indexes, which nothing here uses. These
 * types and signatures satisfy the declaration; the real one would double the download.
 */
export const postgisStub = [
  ...byteTypes.map((name) => typeSql(name, '')),
  typeSql('box2df', ', internallength = 16'),
  ...supportFunctions.map(
    (signature) => `CREATE FUNCTION ${signature} LANGUAGE internal AS 'gist_box_union';`,
  ),
  '',
].join('\n')

function typeSql(name: string, more: string): string {
  return [
    `CREATE FUNCTION ${name}_in(cstring) RETURNS ${name} LANGUAGE internal IMMUTABLE STRICT AS 'byteain';`,
    `CREATE FUNCTION ${name}_out(${name}) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';`,
    `CREATE TYPE ${name} (input = ${name}_in, output = ${name}_out${more});`,
  ].join('\n')
}
