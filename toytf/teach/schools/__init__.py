"""Class lists, downloads and grades in the forms of Canvas, Moodle and Gradescope.

`forms` knows a list of people by its columns, `downloads` finds them in what was handed in, and the command
`toytf export` fills grades into a system's own table. Where each form was read, in November 2026:

- Canvas, the gradebook's table: ``lib/gradebook_exporter.rb`` writes it and ``lib/gradebook_importer.rb`` reads it
  (github.com/instructure/canvas-lms); for people, "How do I export grades in the Gradebook?" and "How do I import
  grades in the Gradebook?" in Canvas's Instructor Guide. Names of downloaded files: ``lib/content_zipper.rb``.
- Moodle, the grading worksheet of an assignment: ``mod/assign/gradingtable.php`` writes it and
  ``mod/assign/feedback/offline/importgradeslib.php`` reads it (github.com/moodle/moodle). Downloaded folders:
  ``mod/assign/classes/downloader.php``; what comes back as feedback: ``mod/assign/feedback/file/importziplib.php``.
  Import of grades: docs.moodle.org, "Grade import".
- Gradescope, the roster: guides.gradescope.com, "Adding Students and Staff" (names in one column or two, an email
  address for each). Its code is not public. The columns of downloaded grades, and ``submission_metadata.yml`` of
  exported submissions, are those that programs of others on GitHub read.

All of it was tried with made-up people in these forms, nothing with a Canvas, a Moodle or a Gradescope.
"""
