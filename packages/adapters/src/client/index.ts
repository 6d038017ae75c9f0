/** The client, which is a package of its own. */
export * from '@daybook/client'
