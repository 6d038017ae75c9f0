/** The text that is true of every operation. */
export const introduction = `An event-sourced task queue.

- **Form.** JSON in UTF-8. Times are ISO 8601, and in answers in UTC with milliseconds, except those of reports, which are in the report's time zone, and those in \`data\` of \`/events\`, which are milliseconds since 1970; durations are seconds. Members that are not described are refused in requests.
- **Tokens.** \`Authorization: Bearer TOKEN\`. Each operation names the roles that may call it (\`x-daybook-roles\`).
- **Problems.** Refused requests are answered with \`application/problem+json\` (RFC 9457). Its \`code\` is stable, for programs; its \`detail\` is for people. A refused command has changed nothing, except with \`outcome-unknown\`.
- **Trying again.** After 429 and 503 wait as long as \`Retry-After\` says. Enqueueing is idempotent by the task's \`id\`, its \`idempotencyKey\`, its content, or the header \`Daybook-Request-Id\`; reports of agents are by their \`token\`. Any POST may have an \`Idempotency-Key\`.
- **Revisions.** Each answer about a queue has the revision that it shows in \`X-Daybook-Revision\`. With \`atLeast\` a question waits until the queue has that revision; with \`revision\` or \`at\` it is answered as it would have been then.
- **Methods.** What can be read with GET can be asked for its headers with HEAD. Another method is answered with 405 and \`Allow\`.
- **Examples.** A server gave each of the successful answers that are shown; some are cut short.
`
