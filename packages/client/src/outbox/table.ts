/** The table of an outbox: its SQL. */

/** Names of the table as SQL has them. */
export interface Table {
  /** As it was given. */
  readonly name: string
  /** Quoted, with its schema. */
  readonly sql: string
  /** Quoted; of the function, the trigger and the index as well. */
  readonly notify: string
  readonly waiting: string
  readonly schema: string
  /** The channel of its notifications. */
  readonly channel: string
}

/** @throws RangeError for a name that would have to be quoted in SQL. */
export const tableOf = (name: string): Table => {
  const [, schema = '', table = ''] = /^(?:([a-z_][a-z0-9_]{0,47})\.)?([a-z_][a-z0-9_]{0,47})$/.exec(name) ?? []
  if (table === '') throw new RangeError(`table must be a name, or schema.name, in small letters, not ${JSON.stringify(name)}`)
  const within = schema === '' ? '' : `"${schema}".`
  return { name, sql: `${within}"${table}"`, notify: `"${table}_notify"`, waiting: `"${table}_waiting"`, schema: within, channel: table }
}

/**
 * SQL that makes the table, and can be run again. `task` is `json` and not `jsonb`: it keeps numbers as they were written.
 * Rows are removed when the queue has them. One with a `problem` was refused.
 */
export const migrationOf = ({ sql, notify, waiting, schema, channel }: Table, withNotify: boolean): string => `CREATE TABLE IF NOT EXISTS ${sql} (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL DEFAULT gen_random_uuid(),
  queue text NOT NULL DEFAULT 'default',
  task json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  refused_at timestamptz,
  problem json
);
CREATE INDEX IF NOT EXISTS ${waiting} ON ${sql} (number) WHERE problem IS NULL;
${withNotify ? notifying(sql, notify, schema, channel) : `DROP TRIGGER IF EXISTS ${notify} ON ${sql};\n`}`

const notifying = (sql: string, notify: string, schema: string, channel: string): string => `CREATE OR REPLACE FUNCTION ${schema}${notify}() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_notify('${channel}', ''); RETURN NULL; END $$;
DROP TRIGGER IF EXISTS ${notify} ON ${sql};
CREATE TRIGGER ${notify} AFTER INSERT OR UPDATE OF problem ON ${sql} FOR EACH STATEMENT EXECUTE FUNCTION ${schema}${notify}();
`
