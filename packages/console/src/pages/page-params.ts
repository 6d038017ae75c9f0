/** The values of the `{names}` in the page's path, decoded. */
export type PageParams = Readonly<Record<string, string>>
